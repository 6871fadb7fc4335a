import { forkSession, readHeader, readSoundPart } from "@moora/agent";
import { LogError } from "@moora/event-log";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { agentName } from "../options-to-agent.ts";
import { sessionCommand, stateAtRecord, type SessionCall } from "../session/session-call.ts";

/** Starts a new session from any record of another one. */
export const forkCommand: Command = sessionCommand({
  name: "fork",
  usage: "<session>",
  summary: "Start a new session from a record of another one.",
  options: ["at", "to", "open"],
  optionHelp: {
    at: "The last record to copy; 0 copies none. Default: the last of the session.",
    json: "Print the id and the records of the new session as one JSON object.",
  },
  async run(call) {
    const { log, id, options, print, screen } = call;
    const open = options.open ?? "reuse";
    const given = options.at;
    const { seq: at } = await stateAtRecord(call, given);
    const as = options.to ?? `${id}-fork`;
    const { seq, dropped } = await forkSession(log, id, at, { as, open }).catch(rethrowDamage);
    const { inputs } = await readSoundPart(log, id);
    const copied = inputs.slice(0, at).filter(({ type }) => type !== "snapshot-taken").length;
    const kept = Math.min(seq, copied);
    const first = `${kept === at ? "" : `${kept} of `}the first ${at} of ${id}`;
    const added = seq === kept ? "" : ` and ${seq - kept} for what was in progress`;
    const work = { reuse: "has what is recorded of it", rerun: "runs again", close: "is closed" }[open];
    print(
      { id: as, seq, dropped, parent: { id, seq: at } },
      `${as} has ${seq} records: ${first}${added}. Work in progress ${work}.`,
    );
    screen.dim(`To continue: ${await continueText(call, as)}`);
    return exitCodes.answered;
  },
});

/** The position is readable, so the damage is in the results that a fork reuses. */
function rethrowDamage(error: unknown): never {
  if (!(error instanceof LogError && error.code === "LogCorrupt")) throw error;
  const fix = "The results of open work lie behind it. Use --open rerun or --open close.";
  throw new CliFailure(exitCodes.unreadable, `${error.message} ${fix}`);
}

/** How to continue a fork: the command, or the agent that the command line does not have. */
async function continueText({ log, id, hints }: SessionCall, fork: string): Promise<string> {
  const { agent } = await readHeader(log, id);
  if (agent.name !== agentName) return `open ${fork} in the program of the agent "${agent.name}"`;
  return hints.runCommand("chat", "--session", fork);
}
