import type { Command } from "../command.ts";
import { attachSession } from "../session/attach-session.ts";
import { reportReceipt } from "../session/report-receipt.ts";
import { sessionCommand } from "../session/session-call.ts";

/** Pauses a session, until it is resumed. */
export const pauseCommand: Command = sessionCommand({
  name: "pause",
  usage: "<session>",
  summary: "Start no new work until `resume`. What runs ends.",
  options: ["reason"],
  async run(call) {
    await using session = await attachSession(call, "post");
    return reportReceipt(call, await session.pause(call.options.text("reason")), "Paused");
  },
});
