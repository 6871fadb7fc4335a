import { forkSession, type OpenWork } from "@moora/agent";
import { LogError } from "@moora/event-log";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import type { GivenOptions } from "../options.ts";
import { CommandHints } from "../session/command-hints.ts";
import { positionOf, sessionCommand, stateAtRecord, type SessionCall } from "../session/session-call.ts";
import { readToolsModule, saveToolsModule } from "../session/tools-module.ts";
import { UsageError } from "../usage-error.ts";

/** Starts a new session from any record of another one. */
export const forkCommand: Command = sessionCommand({
  name: "fork",
  usage: "<session>",
  summary: "Start a new session from a record of another one.",
  options: ["at", "to", "open"],
  async run(call) {
    const { log, id, options, print, screen } = call;
    const open = openWorkOf(options);
    const given = positionOf(options, "at");
    const { seq: at } = await stateAtRecord(call, given);
    const as = options.text("to") ?? `${id}-fork`;
    const { seq, dropped } = await forkSession(log, id, at, { as, open }).catch(rethrowDamage);
    print(
      { id: as, seq, dropped, parent: { id, seq: at } },
      `${as} has ${seq} records: ${id} up to record ${at}${open === "reuse" ? "" : `, open work ${openTexts[open]}`}.`,
    );
    screen.dim(`To continue: ${await continueCommand(call, as)}`);
    return exitCodes.answered;
  },
});

/** The position is readable, so the damage is in the results that a fork reuses. */
function rethrowDamage(error: unknown): never {
  if (!(error instanceof LogError && error.code === "LogCorrupt")) throw error;
  const fix = "The results of open work lie behind it. Use --open rerun or --open close.";
  throw new CliFailure(exitCodes.unreadable, `${error.message} ${fix}`);
}

const openTexts: Readonly<Record<OpenWork, string>> = {
  reuse: "reused",
  rerun: "rerun",
  close: "closed",
};

/** The command that continues a fork. It needs the tools of the session that it comes from. */
async function continueCommand({ log, target, id, options }: SessionCall, fork: string): Promise<string> {
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
