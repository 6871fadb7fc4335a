/** The first difference between a recorded session and its golden file. */
export interface GoldenDifference {
  /** The file of the session, relative to the folder. */
  readonly file: string;
  /** The record after which they differ; 0 is before the first record. */
  readonly seq: number;
  /** The type of the record's input; "" without one. */
  readonly input: string;
  /**
   * What differs: a field of the position; `log` if the session is damaged or its records change the state in another way;
   * `golden` if there is no golden file, it is not readable, or it has more
   * positions; `session` if a golden file has no session; `resumed` for what the
   * agent does with the session.
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

type Counted = Omit<GoldenReport, "ok" | "toText">;

export const goldenReport = (counted: Counted): GoldenReport => ({
  ...counted,
  ok: counted.differences.length === 0,
  toText: () => [heading(counted), ...counted.differences.map(differenceToText)].join("\n"),
});

function heading({ sessions, positions, differences, updated }: Counted): string {
  const written = updated.length === 0 ? "" : `, ${updated.length} golden files updated`;
  return `${sessions} sessions, ${positions} positions, ${differences.length} differ${written}`;
}

function differenceToText({ file, seq, input, part, recorded, now }: GoldenDifference): string {
  const at = input === "" ? `record ${seq}` : `record ${seq} (${input})`;
  switch (part) {
    case "golden":
    case "session":
    case "log":
      return `${file}: ${now}`;
    case "resumed":
      return `${file}, resumed by the agent: was ${recorded}, is ${now}`;
    case "control":
    case "effects":
    case "request":
    case "state":
      return `${file}, ${at}: ${part} was ${recorded}, is ${now}`;
  }
}
