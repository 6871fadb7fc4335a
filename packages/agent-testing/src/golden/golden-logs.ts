import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { verifySession, type Agent } from "@moora/agent";
import { importForReading } from "@moora/agent/internal";
import { checkOptions, type OptionForms } from "@moora/agent-core-effects/internal";
import { LogError, memoryLog } from "@moora/event-log";
import {
  differenceIn,
  fileProblem,
  goldenFileToText,
  textToLines,
  withResumed,
  type GoldenFile,
} from "./golden-file.ts";
import { goldenPositions } from "./golden-position.ts";
import { goldenReport, type GoldenDifference, type GoldenReport } from "./golden-report.ts";
import { resumeSession } from "./resume-session.ts";

/** The options of `goldenLogs`. */
export interface GoldenOptions {
  /**
   * Whether to write the golden files anew, and to remove those without a session. A damaged session is reported and keeps its
   * golden file. Default: false, a difference is reported.
   */
  readonly update?: boolean;
  /**
   * The agent that resumes each session after its last record, without running a model or a tool. The golden file has what becomes
   * of open calls, so that a release that breaks them is found. Default: none; what the files have of it is kept, and not compared.
   */
  readonly agent?: Agent<unknown>;
}

const goldenForms: OptionForms<GoldenOptions> = { update: "boolean", agent: "object" };

const sessionEnd = ".jsonl";
const goldenEnd = ".golden";

/**
 * Compares the exported sessions of a folder, `*.jsonl`, with what they were when their golden files, `*.golden`, were
 * written: at each position the state, its open effects and the next request to the model. Every session must also verify. Returns
 * a report with the first difference of each session. Rejects with `RangeError` for a folder without sessions, and
 * with `BuildError` for an unknown or invalid option.
 */
export async function goldenLogs(folder: string, options: GoldenOptions = {}): Promise<GoldenReport> {
  checkOptions("goldenLogs", options, goldenForms);
  const files = (await readdir(folder)).toSorted();
  const names = namesIn(files, sessionEnd);
  if (names.length === 0) {
    throw new RangeError(
      `The folder ${folder} has no sessions. Export some to it, such as with moora export, as NAME${sessionEnd}.`,
    );
  }
  const differences: GoldenDifference[] = [];
  const updated: string[] = [];
  let positions = 0;
  for (const name of names) {
    const checked = await checkSession(folder, name, options);
    positions += checked.positions;
    if (checked.difference !== undefined) differences.push(checked.difference);
    if (checked.isUpdated) updated.push(`${name}${goldenEnd}`);
  }
  for (const name of namesIn(files, goldenEnd).filter((each) => !names.includes(each))) {
    const file = `${name}${goldenEnd}`;
    if (options.update === true) {
      await rm(join(folder, file));
      updated.push(file);
    } else differences.push(withoutSession(file));
  }
  return goldenReport({ sessions: names.length, positions, differences, updated });
}

const namesIn = (files: readonly string[], end: string): readonly string[] =>
  files.filter((file) => file.endsWith(end)).map((file) => file.slice(0, -end.length));

const withoutSession = (file: string): GoldenDifference =>
  fileProblem(
    file,
    "session",
    "The session of this golden file is missing. Remove the file with update: true.",
  );

interface CheckedSession {
  readonly positions: number;
  readonly difference?: GoldenDifference | undefined;
  readonly isUpdated?: boolean;
}

async function checkSession(
  folder: string,
  name: string,
  { update = false, agent }: GoldenOptions,
): Promise<CheckedSession> {
  const file = `${name}${sessionEnd}`;
  const path = join(folder, `${name}${goldenEnd}`);
  const stored = await textIn(path);
  const read = await readGolden(await readFile(join(folder, file), "utf8"), agent);
  if (typeof read === "string") return { positions: 0, difference: fileProblem(file, "log", read) };
  const found = agent === undefined && stored !== undefined ? withResumed(read, stored) : read;
  const positions = found.positions.length;
  const text = goldenFileToText(found);
  if (stored === text) return { positions };
  if (update) {
    await writeFile(path, text);
    return { positions, isUpdated: true };
  }
  const difference =
    stored === undefined
      ? fileProblem(file, "golden", "The golden file is missing. Write it with update: true.")
      : differenceIn(file, textToLines(stored), found);
  return { positions, difference };
}

/** What a session is now, or the problem of its log. */
async function readGolden(text: string, agent: Agent<unknown> | undefined): Promise<GoldenFile | string> {
  const log = memoryLog();
  try {
    const id = await importForReading(log, text);
    const report = await verifySession(log, id);
    if (!report.ok) return report.message;
    const positions = await goldenPositions(log, id);
    return agent === undefined ? { positions } : { positions, resumed: await resumeSession(agent, log, id) };
  } catch (error) {
    if (error instanceof LogError) return error.message;
    throw error;
  }
}

async function textIn(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
