import { inputAt, type DispatchedInput } from "@moora/agent-core-effects";
import { step, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import type { ChainHead, LogRecord } from "@moora/event-log";
import { parseOrRefuse } from "../session/parse-or-refuse.ts";
import { inputToRecord } from "./session-record.ts";

/** A state with the last record that led to it. */
export interface Fold {
  readonly state: AgentState;
  readonly head: ChainHead;
}

/** One input, with the state before and after it: the same state if it did not apply. */
export interface FoldStep {
  readonly input: AgentInput;
  readonly before: AgentState;
  readonly after: AgentState;
}

/** The records of the inputs that apply to a fold, and the fold after them. `check` returns an input as the session may take it. */
export function foldInputs(
  { state, head }: Fold,
  inputs: readonly DispatchedInput[],
  check: (input: AgentInput) => AgentInput = parseOrRefuse,
): { readonly records: readonly LogRecord[]; readonly fold: Fold; readonly steps: readonly FoldStep[] } {
  const records: LogRecord[] = [];
  const steps: FoldStep[] = [];
  let fold = { state, head };
  for (const dispatched of inputs) {
    const input = check(inputAt(dispatched, fold.state));
    const stepped = step(input)(fold.state);
    steps.push({ input, before: fold.state, after: stepped.state });
    if (stepped.state === fold.state) continue;
    const record = inputToRecord(fold.head, input, stepped.changes);
    records.push(record);
    fold = { state: stepped.state, head: { seq: record.seq, digest: record.digest } };
  }
  return { records, fold, steps };
}
