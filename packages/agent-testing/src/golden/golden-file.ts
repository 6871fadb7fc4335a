import type { GoldenPosition } from "./golden-position.ts";
import type { GoldenDifference } from "./golden-report.ts";

/** What a golden file has: the positions of its session, and what an agent does that resumes it. */
export interface GoldenFile {
  readonly positions: readonly GoldenPosition[];
  /** Of a golden file as it is stored, whatever it has. */
  readonly resumed?: unknown;
}

/** One line of JSON for each position, and one for the resumed session. */
export const goldenFileToText = ({ positions, resumed }: GoldenFile): string =>
  [...positions, ...(resumed === undefined ? [] : [{ resumed }])]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");

type Line = Readonly<Record<string, unknown>>;

/** The lines of a golden file; undefined for a text that is not one. */
export function textToLines(text: string): readonly Line[] | undefined {
  try {
    return text
      .trimEnd()
      .split("\n")
      .map((line): Line => ({ ...JSON.parse(line) }));
  } catch {
    return undefined;
  }
}

/** The positions of a session, with what its golden file has of an agent that resumed it. */
export function withResumed(found: GoldenFile, text: string): GoldenFile {
  const resumed = textToLines(text)?.find((line) => "resumed" in line)?.["resumed"];
  return resumed === undefined ? found : { ...found, resumed };
}

/** The parts of a position in the order in which a difference is reported: what can be read comes first. */
const parts = ["control", "effects", "request", "state"] as const;

/** The first difference between the lines of a golden file and a session. */
export function differenceIn(
  file: string,
  recorded: readonly Line[] | undefined,
  { positions, resumed }: GoldenFile,
): GoldenDifference | undefined {
  if (recorded === undefined)
    return fileProblem(file, "golden", "The golden file is not readable. Write it anew with update: true.");
  for (const [index, position] of positions.entries()) {
    const line = recorded[index] ?? {};
    const part = parts.find((each) => textOf(line[each]) !== textOf(position[each]));
    if (part === undefined) continue;
    const { seq, input } = position;
    return { file, seq, input, part, recorded: shown(line[part]), now: shown(position[part]) };
  }
  const { length } = recorded.filter((line) => "seq" in line);
  if (length > positions.length) {
    const counts = `The golden file has ${length} positions, and the session has ${positions.length}.`;
    return fileProblem(file, "golden", counts);
  }
  const { seq = 0, input = "" } = positions.at(-1) ?? {};
  const before = recorded[positions.length]?.["resumed"];
  return { file, seq, input, part: "resumed", recorded: shown(before), now: shown(resumed) };
}

/** A difference that belongs to no record. */
export const fileProblem = (file: string, part: GoldenDifference["part"], now: string): GoldenDifference => ({
  file,
  seq: 0,
  input: "",
  part,
  recorded: "",
  now,
});

const textOf = (value: unknown): string => JSON.stringify(value) ?? "";

const shown = (value: unknown): string => JSON.stringify(value) ?? "nothing";
