import type { AgentInput } from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import { differencesOf, type Difference } from "./differences.ts";
import { positionOf, readSession } from "./read-session.ts";

/** Where two runs part, and how their states differ at the end. */
export interface SessionDiff {
  /** How many records, from the first on, are the same but for their times. */
  readonly common: number;
  /** The first inputs that are not the same; undefined for a run that had ended. */
  readonly a: AgentInput | undefined;
  readonly b: AgentInput | undefined;
  readonly state: readonly Difference[];
}

export interface SessionRef {
  readonly log: EventLog;
  readonly id: string;
  /** Default: the end. */
  readonly seq?: number;
}

/** Compares two runs record by record, and the states that they came to. */
export async function diffSessions(a: SessionRef, b: SessionRef): Promise<SessionDiff> {
  const [left, right] = [await readSession(a.log, a.id), await readSession(b.log, b.id)];
  const most = Number.MAX_SAFE_INTEGER;
  const inputs = [left.inputs.slice(0, a.seq ?? most), right.inputs.slice(0, b.seq ?? most)] as const;
  let common = 0;
  while (
    common < inputs[0].length &&
    common < inputs[1].length &&
    sameInput(inputs[0][common], inputs[1][common])
  )
    common += 1;
  return {
    common,
    a: inputs[0][common],
    b: inputs[1][common],
    state: differencesOf(positionOf(left, a.seq ?? most).state, positionOf(right, b.seq ?? most).state),
  };
}

/** Times differ between any two runs and decide nothing. */
const times = new Set(["timestamp", "calledLlmAt", "calledAt", "receivedAt"]);

const sameInput = (a: AgentInput | undefined, b: AgentInput | undefined): boolean =>
  JSON.stringify(a, withoutTimes) === JSON.stringify(b, withoutTimes);

const withoutTimes = (key: string, value: unknown): unknown => (times.has(key) ? undefined : value);
