import type { AgentChange, AgentInput, ControlMove } from "@moora/agent-core-state-machine";
import type { Work } from "./work.ts";

/** What a record can be marked as. A user jumps from one to the next. */
export const marks = ["failure", "approval", "retry", "crash", "takeover", "damage"] as const;

/**
 * A mark of a record. `failure`: work or a loop failed. `approval`: a person was asked, or decided. `retry`: work is tried
 * again. `crash`: a process ended in the middle of work. `takeover`: another process has become the owner of a session that its
 * owner had worked on, and had not closed. `damage`: the digest of the record is wrong.
 */
export type Mark = (typeof marks)[number];

/** Marks as bits, so that 100,000 records need little memory. */
export const markBit = (mark: Mark): number => 1 << marks.indexOf(mark);

export const hasMark = (bits: number, mark: Mark): boolean => (bits & markBit(mark)) !== 0;

/** The marks of a set of bits, in the order of `marks`. */
export const marksIn = (bits: number): readonly Mark[] => marks.filter((mark) => hasMark(bits, mark));

/** What a record is marked by. */
export interface MarkedRecord {
  readonly input: AgentInput;
  readonly moves: readonly ControlMove[];
  readonly changes: readonly AgentChange[];
  /** The open work before and after it. */
  readonly before: readonly Work[];
  readonly after: readonly Work[];
  /** The owner before it that had not closed the session; null if there was none. */
  readonly owner: string | null;
  /** Whether it continues a call that has asked a person, with the reply. */
  readonly isRetried: boolean;
}

/** The marks of a record as bits, without `damage`. */
export function marksOf(record: MarkedRecord): number {
  let bits = 0;
  if (isFailure(record)) bits |= markBit("failure");
  if (isApproval(record)) bits |= markBit("approval");
  if (isRetry(record)) bits |= markBit("retry");
  const { input, owner, before } = record;
  if (input.type !== "session-opened") return bits;
  if (before.some(({ isStarted }) => isStarted)) bits |= markBit("crash");
  if (owner !== null && input.owner !== owner) bits |= markBit("takeover");
  return bits;
}

function isFailure({ input, moves }: MarkedRecord): boolean {
  if (moves.some(({ to }) => to === "Error")) return true;
  if (input.type === "llm-call-failed") return true;
  if (input.type === "tool-call-completed") return !input.result.isSuccess;
  return input.type === "re-act-observed" && input.observation.type === "complete-re-act"
    ? input.observation.problem !== undefined
    : false;
}

function isApproval({ input, before, after }: MarkedRecord): boolean {
  if (input.type === "tool-call-decided") return true;
  const known = new Set(before.map(({ key }) => key));
  return after.some(({ lane, key }) => lane === "human" && !known.has(key));
}

const retryEvents: ReadonlySet<string> = new Set(["LlmRetry", "AnswerTooShort", "AnswerInvalid"]);

function isRetry({ input, moves, after, before, isRetried }: MarkedRecord): boolean {
  if (isRetried || input.type === "loop-retried" || moves.some(({ event }) => retryEvents.has(event)))
    return true;
  if (input.type === "tool-call-decided") return input.decision.type === "run-again";
  const known = new Set(before.map(({ key }) => key));
  return after.some(({ lane, key, name }) => lane === "wait" && name.startsWith("retry") && !known.has(key));
}
