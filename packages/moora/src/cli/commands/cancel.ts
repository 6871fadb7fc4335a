import type { Command } from "../command.ts";
import { attachSession } from "../session/attach-session.ts";
import { reportReceipt } from "../session/report-receipt.ts";
import { sessionCommand } from "../session/session-call.ts";

/** Cancels the loop in progress of a session. */
export const cancelCommand: Command = sessionCommand({
  name: "cancel",
  usage: "<session>",
  summary: "Cancel what the agent is doing. The session stays.",
  options: ["reason"],
  async run(call) {
    await using session = await attachSession(call, "post");
    return reportReceipt(call, await session.cancel(call.options.text("reason")), "Canceled");
  },
});
