import type { Command } from "../command.ts";
import { attachSession } from "../session/attach-session.ts";
import { reportReceipt } from "../session/report-receipt.ts";
import { sessionCommand } from "../session/session-call.ts";

/** Continues a paused session. */
export const resumeCommand: Command = sessionCommand({
  name: "resume",
  usage: "<session>",
  summary: "Continue a paused session.",
  options: [],
  async run(call) {
    await using session = await attachSession(call, "post");
    return reportReceipt(call, await session.resume(), "Resumed");
  },
});
