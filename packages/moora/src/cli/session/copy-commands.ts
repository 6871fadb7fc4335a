import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { text as allOf } from "node:stream/consumers";
import { exportSession, forkSession, importSession, readHeader, stateAt, type OpenWork } from "@moora/agent";
import { LogError } from "@moora/event-log";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import type { GivenOptions } from "../options.ts";
import { UsageError } from "../usage-error.ts";
import { CommandHints } from "./command-hints.ts";
import { rememberedTools, rememberTools } from "./remembered-tools.ts";
import { checkPosition, positionOf, sessionCommand, type SessionCall } from "./session-call.ts";

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
    const { seq: at } = await stateAt(log, id, given);
    checkPosition(id, given, at);
    const as = options.text("to") ?? `${id}-fork`;
    const { seq, dropped } = await forkSession(log, id, at, { as, open }).catch(behindDamage);
    print(
      { id: as, seq, dropped, parent: { id, seq: at } },
      `${as} has ${seq} records: ${id} up to record ${at}${open === "reuse" ? "" : `, open work ${openTexts[open]}`}.`,
    );
    screen.aside(`To continue: ${await continueCommand(call, as)}`);
    return exitCodes.answered;
  },
});

/** The position can be read, so what is damaged are the results that a fork reuses. */
function behindDamage(error: unknown): never {
  if (!(error instanceof LogError && error.code === "LogCorrupt")) throw error;
  const fix = "The results of open work lie behind it. Use --open rerun or --open close.";
  throw new CliFailure(exitCodes.unreadable, `${error.message} ${fix}`);
}

const openTexts: Readonly<Record<OpenWork, string>> = {
  reuse: "reused",
  rerun: "started again",
  close: "closed",
};

/** The command that continues a fork. It needs the tools of the session that it comes from. */
async function continueCommand({ log, place, id, options }: SessionCall, fork: string): Promise<string> {
  const tools = await rememberedTools(log, place, id);
  if (tools !== undefined) await rememberTools(log, place, fork, tools);
  const hints = new CommandHints({ options, place, tools: tools?.path });
  return hints.runCommand("chat", "--session", fork);
}

const openValues: readonly OpenWork[] = ["reuse", "rerun", "close"];

function openWorkOf(options: GivenOptions): OpenWork {
  const text = options.text("open") ?? "reuse";
  const open = openValues.find((value) => value === text);
  if (open !== undefined) return open;
  throw new UsageError(`Invalid value for --open: "${text}".`, `Use one of ${openValues.join(", ")}.`);
}

/** Writes a session to a file. */
export const exportCommand: Command = sessionCommand({
  name: "export",
  usage: "<session> [file]",
  summary: "Write a session to a new file, or to standard output.",
  async run({ log, id, words: [, file], host, print }) {
    await readHeader(log, id);
    const portable = await exportSession(log, id);
    if (file === undefined || file === "-") host.stdout.write(portable);
    else {
      inFile(file, () => writeFileSync(resolve(host.cwd, file), portable, { flag: "wx" }));
      print({ id, file }, `${id} is in ${file}.`);
    }
    return exitCodes.answered;
  },
});

/** Reads a session from such a file. */
export const importCommand: Command = sessionCommand({
  name: "import",
  usage: "<file>",
  summary: "Read a session from an exported file; - is standard input.",
  options: ["to"],
  makes: true,
  async run(call) {
    const { log, options, print } = call;
    const { id, seq } = await importSession(log, await textOf(call), options.text("to"));
    print({ id, seq }, `${id} has ${seq} records.`);
    return exitCodes.answered;
  },
});

async function textOf({ words: [file = "-"], host }: SessionCall): Promise<string> {
  if (file === "-") return await allOf(host.stdin);
  return inFile(file, () => readFileSync(resolve(host.cwd, file), "utf8"));
}

const fileProblems: Readonly<Record<string, string>> = {
  EEXIST: "exists already",
  ENOENT: "does not exist",
  EISDIR: "is a folder",
  EACCES: "cannot be opened: permission denied",
  ENOSPC: "cannot be written: no space left on the disk",
};

/** Uses a file. Throws `CliFailure` where that fails. */
function inFile<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && typeof error.code === "string")) throw error;
    throw new CliFailure(
      error.code === "ENOENT" ? exitCodes.missing : exitCodes.refused,
      `The file ${file} ${fileProblems[error.code] ?? `cannot be used: ${error.code}`}.`,
    );
  }
}
