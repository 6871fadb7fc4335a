import type { Receipt } from "@moora/agent";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { openRecorded } from "./open-recorded.ts";
import { sessionCommand, type SessionCall } from "./session-call.ts";

/** Sends a message to an agent, whether or not a process runs it. */
export const sendCommand: Command = sessionCommand({
  name: "send",
  usage: "<session> <message...>",
  summary: "Send a message to a session that another process runs.",
  async run(call) {
    await using session = await openRecorded(call, "post");
    const receipt = await session.send(call.words.slice(1).join(" "));
    if (receipt.status === "accepted")
      call.screen.aside(`To follow it: ${call.hints.command("log", call.id, "--follow")}`);
    return report(call, receipt, "Sent");
  },
});

/** Cancels what an agent is doing. */
export const cancelCommand: Command = sessionCommand({
  name: "cancel",
  usage: "<session>",
  summary: "Cancel what the agent is doing. The session stays.",
  options: ["reason"],
  async run(call) {
    await using session = await openRecorded(call, "post");
    return report(call, await session.cancel(call.options.text("reason")), "Canceled");
  },
});

/** Reasons that need more words than their code. */
const reasons: Readonly<Record<string, string>> = {
  "no-loop": "Nothing is in progress in this session.",
  blank: "The message is empty.",
  busy: "The agent is working, and does not accept messages meanwhile.",
};

function report({ print }: SessionCall, receipt: Receipt, done: string): ExitCode {
  if (receipt.status === "ignored")
    throw new CliFailure(exitCodes.refused, reasons[receipt.reason] ?? `Ignored: ${receipt.reason}.`);
  print({ seq: receipt.seq }, `${done}. It is record ${receipt.seq}.`);
  return exitCodes.answered;
}
