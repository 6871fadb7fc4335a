import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson, differencesOf, headerToState, type Agent } from "@moora/agent";
import { importForReading } from "@moora/agent/internal";
import { effectsAt, llmRequestAt } from "@moora/agent-core-effects";
import { checkOptions, type OptionForms } from "@moora/agent-core-effects/internal";
import { beginReplay, controlName, type AgentState } from "@moora/agent-core-state-machine";
import { digestOf, LogError, memoryLog } from "@moora/event-log";
import { shown, type AgentDifference } from "./compare-agent.ts";
import { LawBroken } from "./laws/law-broken.ts";
import { ReplayDiffers, replayPortable, type ReplayedLog } from "./replay-log.ts";
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

/**
 * The first difference between a session and its golden file. `a` is what the file has, `b` what it is now. `path` is a part of
 * the position, such as `effects.plan/1/1/1`, or `resumed` for what the agent makes of the session; "" where one of them has no such line;
 * `log` for a session that is damaged or replays to other changes.
 */
export interface GoldenDifference extends AgentDifference {
  /** The file of the session, relative to the folder. */
  readonly file: string;
}

/** The result of `goldenLogs`. */
export interface GoldenReport {
  readonly ok: boolean;
  /** The number of sessions in the folder. */
  readonly sessions: number;
  /** The number of positions of all sessions, one more than records for each. */
  readonly positions: number;
  /** The first difference of each session that has one. */
  readonly differences: readonly GoldenDifference[];
  /** The golden files that were written or removed, relative to the folder. */
  readonly updated: readonly string[];
  /** The report as text, one line for each difference. */
  toText(): string;
}

/**
 * Replays the exported sessions of a folder, `*.jsonl`, and compares them with what they were when their golden files, `*.golden`, were
 * written: at each position the state, its open effects and the next request to the model. Returns
 * a report with the first difference of each session. Rejects with `RangeError` for a folder without sessions, and
 * with `BuildError` for an unknown or invalid option.
 */
export async function goldenLogs(folder: string, options: GoldenOptions = {}): Promise<GoldenReport> {
  checkOptions("goldenLogs", options, goldenForms);
  const files = await readdir(folder);
  const sessions = namesIn(files, ".jsonl");
  const goldens = namesIn(files, ".golden");
  if (sessions.length === 0) {
    throw new RangeError(
      `The folder ${folder} has no sessions. Export some to it, such as with moora export, as NAME.jsonl.`,
    );
  }
  const differences: GoldenDifference[] = [];
  const updated: string[] = [];
  let positions = 0;
  for (const name of new Set([...sessions, ...goldens])) {
    const path = join(folder, `${name}.golden`);
    const golden = goldens.includes(name) ? linesIn(await readFile(path, "utf8")) : [];
    const lines = sessions.includes(name)
      ? await linesOf(join(folder, `${name}.jsonl`), golden ?? [], options)
      : [];
    if (typeof lines !== "string") positions += lines.filter(isPosition).length;
    const difference = differenceIn(golden, lines);
    if (difference === undefined) continue;
    if (options.update === true && typeof lines !== "string") {
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
      await (text === "" ? rm(path) : writeFile(path, text));
      updated.push(`${name}.golden`);
    } else differences.push({ file: `${name}.jsonl`, ...difference });
  }
  const counted = { sessions: sessions.length, positions, differences, updated };
  return { ok: differences.length === 0, ...counted, toText: () => reportToText(counted) };
}

const namesIn = (files: readonly string[], end: string): readonly string[] =>
  files.flatMap((file) => (file.endsWith(end) ? [file.slice(0, -end.length)] : [])).toSorted();

/** A line of a golden file: a position, or at the end what an agent does that resumes the session. */
interface Line {
  readonly seq: number;
  readonly resumed?: object;
}

const isPosition = ({ resumed }: Line): boolean => resumed === undefined;

/** The lines of a golden file; undefined for a text that is not one. */
function linesIn(text: string): readonly Line[] | undefined {
  try {
    return text
      .trimEnd()
      .split("\n")
      .map((line): Line => JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** The lines of a session as it is now, or the problem of its log. Without an agent, those of one are taken from the golden file. */
async function linesOf(
  file: string,
  golden: readonly Line[],
  { agent }: GoldenOptions,
): Promise<readonly Line[] | string> {
  const text = await readFile(file, "utf8");
  try {
    const positions = positionsOf(await replayPortable(text));
    if (agent === undefined) return [...positions, ...golden.filter((line) => !isPosition(line))];
    const log = memoryLog();
    const resumed = await resumeSession(agent, log, await importForReading(log, text));
    return [...positions, { seq: positions.length - 1, resumed }];
  } catch (error) {
    if (error instanceof LogError || error instanceof ReplayDiffers || error instanceof LawBroken)
      return error.message;
    throw error;
  }
}

/** A line for each position of a session, from the one before its first record on: what can be read of it, and digests of the rest. */
function positionsOf({ header, inputs }: ReplayedLog): readonly Line[] {
  const replay = beginReplay(headerToState(header));
  return [undefined, ...inputs].map((input, seq) => {
    if (input !== undefined) replay.apply(input);
    return { seq, input: input?.type ?? "", ...partsOf(replay.state()) };
  });
}

/** In the order in which a difference is reported: what can be read comes first. */
function partsOf(state: AgentState): object {
  const request = llmRequestAt(state);
  const effects = Object.entries(effectsAt(state));
  return {
    control: controlName(state.reActContext.control),
    effects: Object.fromEntries(effects.map(([key, effect]) => [key, digestOf(canonicalJson(effect))])),
    request: request === undefined ? null : digestOf(canonicalJson(request)),
    state: digestOf(canonicalJson(state)),
  };
}

function differenceIn(
  read: readonly Line[] | undefined,
  lines: readonly Line[] | string,
): AgentDifference | undefined {
  // Without a session, there would be no line to differ in.
  if (read === undefined && lines.length === 0) return { seq: 0, path: "", a: "not readable", b: undefined };
  const golden = read ?? [];
  if (typeof lines === "string") return { seq: 0, path: "log", a: undefined, b: lines };
  for (let at = 0; at < Math.max(golden.length, lines.length); at += 1) {
    const [was, is] = [golden[at], lines[at]];
    const [found] = differencesOf(was, is, 1);
    if (found === undefined) continue;
    const { seq = at } = is ?? was ?? {};
    const isWhole = found.path.startsWith("resumed");
    return { seq, ...found, ...(isWhole ? { path: "resumed", a: was?.resumed, b: is?.resumed } : {}) };
  }
  return undefined;
}

function reportToText({ sessions, positions, differences, updated }: Counted): string {
  const written = updated.length === 0 ? "" : `, ${updated.length} golden files updated`;
  const heading = `${sessions} sessions, ${positions} positions, ${differences.length} differ${written}`;
  return [heading, ...differences.map(differenceToText)].join("\n");
}

type Counted = Omit<GoldenReport, "ok" | "toText">;

function differenceToText({ file, seq, path, a, b }: GoldenDifference): string {
  const update = "To write the golden file anew: update: true.";
  if (path === "log") return `${file}: ${String(b)}`;
  if (a === undefined && path === "")
    return `${file}: The golden file has no line for record ${seq}. ${update}`;
  if (b === undefined && path === "") return `${file}: The session has no record ${seq}. ${update}`;
  return `${file}, record ${seq}: ${path} was ${shown(a)}, is ${shown(b)}`;
}
