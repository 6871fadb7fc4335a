import type { Command } from "../command.ts";
import { attachSession } from "../session/attach-session.ts";
import { reportReceipt } from "../session/report-receipt.ts";
import { sessionCommand } from "../session/session-call.ts";

/** Tries the failed loop of a session again. The process that runs the session continues it. */
export const retryCommand: Command = sessionCommand({
  name: "retry",
  usage: "<session>",
  summary: "Try again what has failed. The process that runs the session continues it.",
  options: [],
  async run(call) {
    await using session = await attachSession(call, "post");
    return reportReceipt(call, await session.retry(), "Tried again");
  },
});
