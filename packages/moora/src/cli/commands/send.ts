import type { Command } from "../command.ts";
import { attachSession } from "../session/attach-session.ts";
import { reportReceipt } from "../session/report-receipt.ts";
import { sessionCommand } from "../session/session-call.ts";

/** Sends a message to an agent, whether or not a process runs it. */
export const sendCommand: Command = sessionCommand({
  name: "send",
  usage: "<session> <message...>",
  summary: "Send a message to a session that another process runs.",
  async run(call) {
    await using session = await attachSession(call, "post");
    const receipt = await session.send(call.args.slice(1).join(" "));
    if (receipt.status === "accepted")
      call.screen.dim(`To follow it: ${call.hints.command("log", call.id, "--follow")}`);
    return reportReceipt(call, receipt, "Sent");
  },
});
