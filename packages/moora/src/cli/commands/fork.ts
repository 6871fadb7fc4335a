import { forkSession, readHeader, readSoundPart, type OpenWork } from "@moora/agent";
import { LogError, type EventLog } from "@moora/event-log";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import type { GivenOptions } from "../options.ts";
import { agentName } from "../options-to-agent.ts";
import { CommandHints } from "../session/command-hints.ts";
import { positionOf, sessionCommand, stateAtRecord } from "../session/session-call.ts";
import type { SessionCall } from "../session/open-call.ts";
import { readToolsModule, saveToolsModule } from "../session/tools-module.ts";
import { UsageError } from "../usage-error.ts";

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
    const open = openWorkOf(options);
    const given = positionOf(options, "at");
    const { seq: at } = await stateAtRecord(call, given);
    const as = options.text("to") ?? `${id}-fork`;
    const { seq, dropped } = await forkSession(log, id, at, { as, open }).catch(rethrowDamage);
    print(
      { id: as, seq, dropped, parent: { id, seq: at } },
      forkText({ id, at, as, seq, open, copied: open === "rerun" ? seq : await copiedRecords(log, id, at) }),
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

/** How many of the first records of a session a fork copies: all but those that confirm a snapshot of the session itself. */
async function copiedRecords(log: EventLog, id: string, at: number): Promise<number> {
  const { inputs } = await readSoundPart(log, id);
  return inputs.slice(0, at).filter(({ type }) => type !== "snapshot-taken").length;
}

interface ForkText {
  readonly id: string;
  readonly at: number;
  readonly as: string;
  readonly seq: number;
  readonly copied: number;
  readonly open: OpenWork;
}

/** Such as `bob has 6 records: 5 records of ada and 1 record for open work.` */
function forkText({ id, at, as, seq, copied, open }: ForkText): string {
  const source =
    copied === at
      ? `${count(copied, "record")} of ${id}`
      : `${copied} of the first ${count(at, "record")} of ${id}`;
  const added = seq - copied;
  // With `reuse`, these are recorded results, and records that close calls without one.
  const addedText = `${count(added, "record")} for ${open === "close" ? "closed" : "open"} work`;
  const rerunText = open === "rerun" ? ", open work runs again" : "";
  return `${as} has ${count(seq, "record")}: ${source}${added > 0 ? ` and ${addedText}` : ""}${rerunText}.`;
}

const count = (total: number, noun: string): string => `${total} ${noun}${total === 1 ? "" : "s"}`;

/**
 * How to continue a fork: the command, which needs the tools of the session that it comes from, or the agent that the command line
 * does not have.
 */
async function continueText({ log, target, id, options }: SessionCall, fork: string): Promise<string> {
  const { agent } = await readHeader(log, id);
  if (agent.name !== agentName) return `open ${fork} in the program of the agent "${agent.name}"`;
  const tools = await readToolsModule(log, target, id);
  if (tools !== undefined) await saveToolsModule(log, target, fork, tools);
  const hints = new CommandHints({ options, target, tools: tools?.path });
  return hints.runCommand("chat", "--session", fork);
}

const openValues: readonly OpenWork[] = ["reuse", "rerun", "close"];

function openWorkOf(options: GivenOptions): OpenWork {
  const text = options.text("open") ?? "reuse";
  const open = openValues.find((value) => value === text);
  if (open !== undefined) return open;
  throw new UsageError(`Invalid value for --open: "${text}".`, `Use one of ${openValues.join(", ")}.`);
}
