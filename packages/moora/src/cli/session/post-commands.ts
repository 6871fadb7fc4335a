import type { Receipt } from "@moora/agent";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { openRecorded } from "./open-recorded.ts";
import { commandFor, sessionCommand, type SessionCall } from "./session-call.ts";

/** Says something to an agent that another process runs, or that nobody runs just now. */
export const sendCommand: Command = sessionCommand({
  name: "send",
  usage: "<session> <message...>",
  summary: "Say something to a session that another process runs.",
  async run(call) {
    await using session = await openRecorded(call, "post");
    const receipt = await session.send(call.words.slice(1).join(" "));
    if (receipt.status === "accepted")
      call.screen.aside(`Follow it with ${commandFor(`log ${call.id} --follow`, call)}`);
    return taken(call, receipt, "Sent");
  },
});

/** Ends what an agent is doing. */
export const cancelCommand: Command = sessionCommand({
  name: "cancel",
  usage: "<session>",
  summary: "End what the agent is doing, and keep the session.",
  options: ["reason"],
  async run(call) {
    await using session = await openRecorded(call, "post");
    return taken(call, await session.cancel(call.options.text("reason")), "Cancelled");
  },
});

/** Why an input was not taken, where the stable word alone would not say it. */
const whyNot: Readonly<Record<string, string>> = {
  "no-loop": "Nothing is under way there.",
  blank: "The message is blank.",
  busy: "The agent is at work, and takes no message meanwhile.",
};

function taken({ say }: SessionCall, receipt: Receipt, done: string): ExitCode {
  if (receipt.status === "ignored")
    throw new CliFailure(exitCodes.refused, whyNot[receipt.reason] ?? `It was not taken: ${receipt.reason}.`);
  say({ seq: receipt.seq }, `${done}. It is record ${receipt.seq}.`);
  return exitCodes.answered;
}
