import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson, headerToState, type Agent } from "@moora/agent";
import { importForReading } from "@moora/agent/internal";
import { effectsAt, llmRequestAt } from "@moora/agent-core-effects";
import { checkOptions, type OptionForms } from "@moora/agent-core-effects/internal";
import { beginReplay, controlName, type AgentState } from "@moora/agent-core-state-machine";
import { digestOf, LogError, memoryLog } from "@moora/event-log";
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

/** The first difference between a recorded session and its golden file. */
export interface GoldenDifference {
  /** The file of the session, relative to the folder. */
  readonly file: string;
  /** The record after which they differ; 0 is before the first record. */
  readonly seq: number;
  /** The type of the record's input; "" without one. */
  readonly input: string;
  /**
   * What differs: a field of the position; `resumed` for what the agent does with the session; `log` for a session that is damaged or
   * replays to other changes; `golden` for a golden file that is missing, not readable or longer; `session` for one without a session.
   */
  readonly part: "control" | "effects" | "request" | "state" | "log" | "golden" | "session" | "resumed";
  /** What the golden file has, as text. */
  readonly recorded: string;
  /** What it is now, as text. */
  readonly now: string;
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
    const stored = goldens.includes(name) ? await readFile(path, "utf8") : undefined;
    const found = sessions.includes(name) ? await readGolden(folder, name, stored, options) : [];
    const text = typeof found === "string" ? undefined : found.map(lineToText).join("");
    if (typeof found !== "string") positions += found.filter(isPosition).length;
    if (text === stored) continue;
    if (options.update === true && text !== undefined) {
      await (text === "" ? rm(path) : writeFile(path, text));
      updated.push(`${name}.golden`);
    } else differences.push(differenceIn(name, stored, found));
  }
  const counted = { sessions: sessions.length, positions, differences, updated };
  return { ok: differences.length === 0, ...counted, toText: () => reportToText(counted) };
}

const namesIn = (files: readonly string[], end: string): readonly string[] =>
  files
    .filter((file) => file.endsWith(end))
    .map((file) => file.slice(0, -end.length))
    .toSorted();

/** A line of a golden file: a position, or at the end what an agent does that resumes the session. */
type Line = Readonly<Record<string, unknown>>;

const isPosition = (line: Line): boolean => "seq" in line;

const lineToText = (line: Line): string => `${JSON.stringify(line)}\n`;

/** The golden file of a session as it would be written now, or the problem of its log. */
async function readGolden(
  folder: string,
  name: string,
  stored: string | undefined,
  { agent }: GoldenOptions,
): Promise<readonly Line[] | string> {
  const text = await readFile(join(folder, `${name}.jsonl`), "utf8");
  try {
    const positions = positionsOf(await replayPortable(text));
    if (agent === undefined)
      return [...positions, ...(linesIn(stored) ?? []).filter((line) => "resumed" in line)];
    const log = memoryLog();
    return [...positions, { resumed: await resumeSession(agent, log, await importForReading(log, text)) }];
  } catch (error) {
    if (error instanceof LogError || error instanceof ReplayDiffers || error instanceof LawBroken)
      return error.message;
    throw error;
  }
}

/** A line for each position of a session, from the one before its first record on: what can be read of it, and digests of the rest. */
function positionsOf({ header, inputs }: ReplayedLog): readonly Line[] {
  const replay = beginReplay(headerToState(header));
  const positions = [positionAt(replay.state(), 0, "")];
  for (const [index, input] of inputs.entries()) {
    replay.apply(input);
    positions.push(positionAt(replay.state(), index + 1, input.type));
  }
  return positions;
}

function positionAt(state: AgentState, seq: number, input: string): Line {
  const request = llmRequestAt(state);
  const effects = Object.entries(effectsAt(state));
  return {
    seq,
    input,
    control: controlName(state.reActContext.control),
    effects: Object.fromEntries(effects.map(([key, effect]) => [key, digestOf(canonicalJson(effect))])),
    request: request === undefined ? null : digestOf(canonicalJson(request)),
    state: digestOf(canonicalJson(state)),
  };
}

/** The lines of a golden file; undefined for a text that is not one. */
function linesIn(text: string | undefined): readonly Line[] | undefined {
  try {
    return text
      ?.trimEnd()
      .split("\n")
      .map((line): Line => ({ ...JSON.parse(line) }));
  } catch {
    return undefined;
  }
}

/** The parts of a line in the order in which a difference is reported: what can be read comes first. */
const parts = ["control", "effects", "request", "state", "resumed"] as const;

function differenceIn(
  name: string,
  stored: string | undefined,
  found: readonly Line[] | string,
): GoldenDifference {
  const file = `${name}.jsonl`;
  const problem = (part: GoldenDifference["part"], now: string, of = file): GoldenDifference => ({
    file: of,
    seq: 0,
    input: "",
    part,
    recorded: "",
    now,
  });
  if (typeof found === "string") return problem("log", found);
  if (found.length === 0) {
    const missing = "The session of this golden file is missing. Remove the file with update: true.";
    return problem("session", missing, `${name}.golden`);
  }
  if (stored === undefined)
    return problem("golden", "The golden file is missing. Write it with update: true.");
  const lines = linesIn(stored);
  if (lines === undefined)
    return problem("golden", "The golden file is not readable. Write it anew with update: true.");
  for (const [index, line] of found.entries()) {
    const recorded = lines[index] ?? {};
    const part = parts.find((each) => JSON.stringify(recorded[each]) !== JSON.stringify(line[each]));
    if (part === undefined) continue;
    const { seq, input } = found.slice(0, index + 1).findLast(isPosition) ?? {};
    const at = { file, seq: Number(seq), input: String(input) };
    return { ...at, part, recorded: shown(recorded[part]), now: shown(line[part]) };
  }
  const [recorded, now] = [lines, found].map((each) => each.filter(isPosition).length);
  return problem("golden", `The golden file has ${recorded} positions, and the session has ${now}.`);
}

const shown = (value: unknown): string => JSON.stringify(value) ?? "nothing";

function reportToText({
  sessions,
  positions,
  differences,
  updated,
}: Omit<GoldenReport, "ok" | "toText">): string {
  const written = updated.length === 0 ? "" : `, ${updated.length} golden files updated`;
  const heading = `${sessions} sessions, ${positions} positions, ${differences.length} differ${written}`;
  return [heading, ...differences.map(differenceToText)].join("\n");
}

function differenceToText({ file, seq, input, part, recorded, now }: GoldenDifference): string {
  if (part === "golden" || part === "session" || part === "log") return `${file}: ${now}`;
  if (part === "resumed") return `${file}, resumed by the agent: was ${recorded}, is ${now}`;
  const at = input === "" ? `record ${seq}` : `record ${seq} (${input})`;
  return `${file}, ${at}: ${part} was ${recorded}, is ${now}`;
}
