import { differencesOf, isSameInput, type AgentState, type Difference } from "@moora/agent";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import type { RecordRow, SessionHistory } from "./session-history.ts";

/** The differences of two positions of one session. */
export interface PositionDiff {
  readonly from: number;
  readonly to: number;
  /** At most `mostDifferences`. */
  readonly differences: readonly Difference[];
}

/** Where two sessions part, and how their states differ. */
export interface SessionComparison {
  /** The last record of each that both have. Times, owners and random ids are not compared, and records of snapshots are skipped. */
  readonly common: { readonly a: number; readonly b: number };
  /** The records after it. */
  readonly a: readonly RecordRow[];
  readonly b: readonly RecordRow[];
  readonly differences: readonly Difference[];
}

/** The most differences that are listed. */
export const mostDifferences = 300;

/** The most records that are shown of each side. */
const mostRows = 200;

/** The differences of the states at two positions. */
export const diffPositions = (history: SessionHistory, from: number, to: number): PositionDiff => ({
  from,
  to,
  differences: differencesOfStates(history.stateAt(from), history.stateAt(to)),
});

const differencesOfStates = (a: AgentState, b: AgentState): readonly Difference[] =>
  differencesOf(a, b, mostDifferences).flatMap(fieldDifferences).slice(0, mostDifferences);

/** The difference of two texts with JSON, such as the schemas of a tool, by its fields; another difference as it is. */
function fieldDifferences(difference: Difference): readonly Difference[] {
  const { a, b } = difference;
  if (typeof a !== "string" || typeof b !== "string") return [difference];
  const [before, after] = [textToJson(a), textToJson(b)];
  if (!isJsonObject(before) || !isJsonObject(after)) return [difference];
  const fields = differencesOf(before, after, mostDifferences);
  return fields.map((field) => ({ ...field, path: `${difference.path}.${field.path}` }));
}

/** Compares two sessions record by record, and their last states. */
export function compareSessions(a: SessionHistory, b: SessionHistory): SessionComparison {
  const [left, right] = [comparable(a), comparable(b)];
  let count = 0;
  while (count < left.length && count < right.length) {
    const [one, other] = [a.inputs[(left[count] ?? 0) - 1], b.inputs[(right[count] ?? 0) - 1]];
    if (one === undefined || other === undefined || !isSameInput(one, other)) break;
    count += 1;
  }
  const common = { a: left[count - 1] ?? 0, b: right[count - 1] ?? 0 };
  return {
    common,
    a: a.rows.slice(common.a, common.a + mostRows),
    b: b.rows.slice(common.b, common.b + mostRows),
    differences: differencesOfStates(a.stateAt(a.length), b.stateAt(b.length)),
  };
}

/** The sequence numbers of the records that are compared. */
const comparable = ({ inputs }: SessionHistory): readonly number[] =>
  inputs.flatMap(({ type }, index) => (type === "snapshot-taken" ? [] : [index + 1]));
