import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { text as allOf } from "node:stream/consumers";
import {
  exportSession,
  forkSession,
  importSession,
  readHeader,
  readSession,
  type OpenWork,
} from "@moora/agent";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import type { GivenOptions } from "../options.ts";
import { UsageError } from "../usage-error.ts";
import { commandFor, positionOf, sessionCommand, type SessionCall } from "./session-call.ts";

/** A new session from any position of another one. */
export const forkCommand: Command = sessionCommand({
  name: "fork",
  usage: "<session>",
  summary: "Begin a new session with the records of another one.",
  options: ["at", "to", "open"],
  async run(call) {
    const { log, id, options, say, screen } = call;
    const open = openWorkOf(options);
    const at = positionOf(options, "at") ?? (await readSession(log, id)).records.length;
    const as = options.text("to") ?? `${id}-fork`;
    const { seq, dropped } = await forkSession(log, id, at, { as, open });
    say(
      { id: as, seq, dropped, parent: { id, seq: at } },
      `${as} has ${seq} records: ${id} up to record ${at}${open === "reuse" ? "" : `, open work ${options.text("open") ?? ""}`}.`,
    );
    screen.aside(`Go on with ${commandFor(`chat --session ${as}`, call)}`);
    return exitCodes.answered;
  },
});

const openWords: Readonly<Record<string, OpenWork>> = { reuse: "reuse", again: "rerun", close: "close" };

function openWorkOf(options: GivenOptions): OpenWork {
  const text = options.text("open") ?? "reuse";
  const open = Object.hasOwn(openWords, text) ? openWords[text] : undefined;
  if (open !== undefined) return open;
  throw new UsageError(`--open cannot be ${text}.`, `It is one of ${Object.keys(openWords).join(", ")}.`);
}

/** A whole session as one file. */
export const exportCommand: Command = sessionCommand({
  name: "export",
  usage: "<session> [file]",
  summary: "Write a session to a new file that any log takes in, or to the output.",
  async run({ log, id, words: [, file], host, say }) {
    await readHeader(log, id);
    const portable = await exportSession(log, id);
    if (file === undefined || file === "-") host.stdout.write(portable);
    else {
      inFile(file, () => writeFileSync(resolve(host.cwd, file), portable, { flag: "wx" }));
      say({ id, file }, `${id} is in ${file}.`);
    }
    return exitCodes.answered;
  },
});

/** Takes such a file in. */
export const importCommand: Command = sessionCommand({
  name: "import",
  usage: "<file>",
  summary: "Take a session in from a file; - is standard input.",
  options: ["to"],
  makes: true,
  async run(call) {
    const { log, options, say } = call;
    const { id, seq } = await importSession(log, await textOf(call), options.text("to"));
    say({ id, seq }, `${id} has ${seq} records.`);
    return exitCodes.answered;
  },
});

async function textOf({ words: [file = "-"], host }: SessionCall): Promise<string> {
  if (file === "-") return await allOf(host.stdin);
  return inFile(file, () => readFileSync(resolve(host.cwd, file), "utf8"));
}

const fileProblems: Readonly<Record<string, string>> = {
  EEXIST: "is there already",
  ENOENT: "is not there",
  EISDIR: "is a folder",
  EACCES: "may not be used",
};

/** Does something with a file. Throws `CliFailure` for one that is in the way, not there, or out of reach. */
function inFile<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && typeof error.code === "string")) throw error;
    throw new CliFailure(
      error.code === "ENOENT" ? exitCodes.missing : exitCodes.refused,
      `${file} ${fileProblems[error.code] ?? `cannot be used: ${error.code}`}.`,
    );
  }
}
