import type { AgentInput } from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import { checkLogOptions, type OptionForms } from "../check-options.ts";
import { canonicalJson } from "../durable/canonical-json.ts";
import type { LoggedInput } from "../durable/follow-log.ts";
import { comparableInput, comparableState } from "./volatile-fields.ts";
import { differencesOf, type Difference } from "./differences.ts";
import { end, positionOf, readSoundPart } from "./read-session.ts";

/**
 * The difference between two sessions: their common beginning, their first different inputs, and the differences of
 * their states.
 */
export interface SessionDiff {
  /**
   * The number of records at the beginning of `a` that `b` has too. Times, owners and random ids are not compared, and
   * records of snapshots are skipped.
   */
  readonly common: number;
  /** The first different input of each session; undefined for a session without further inputs. */
  readonly a: AgentInput | undefined;
  readonly b: AgentInput | undefined;
  /** The differences of the states, without times, owners and random ids. */
  readonly state: readonly Difference[];
}

const forms: OptionForms<SessionRef> = { log: "any", id: "string", seq: "number" };

/** A session in a log, up to a position. */
export interface SessionRef {
  readonly log: EventLog;
  readonly id: string;
  /** The last record that is compared. Default: the last record of the session. */
  readonly seq?: number;
}

/**
 * Compares two sessions record by record, and their final states. Rejects with `SessionError`, code `SessionUnknown` or
 * `InvalidOption`, and with `LogCorrupt` for a position behind the first damage.
 */
export async function diffSessions(a: SessionRef, b: SessionRef): Promise<SessionDiff> {
  for (const ref of [a, b]) checkLogOptions("diffSessions", ref, forms);
  const [left, right] = [await readPart(a), await readPart(b)];
  const common = commonLength(left.inputs, right.inputs);
  return {
    common: (left.inputs[common]?.seq ?? left.seq + 1) - 1,
    a: left.inputs[common]?.input,
    b: right.inputs[common]?.input,
    state: differencesOf(comparableState(left.state), comparableState(right.state)),
  };
}

async function readPart({ log, id, seq = end }: SessionRef) {
  const session = await readSoundPart(log, id);
  const position = await positionOf(session, seq);
  const inputs = session.inputs
    .slice(0, position.seq)
    .map((input, index): LoggedInput => ({ seq: index + 1, input }))
    .filter(({ input }) => input.type !== "snapshot-taken");
  return { seq: position.seq, state: position.state, inputs };
}

function commonLength(left: readonly LoggedInput[], right: readonly LoggedInput[]): number {
  const firstDifference = left.findIndex(({ input }, index) => {
    const other = right[index];
    return other === undefined || !isSameInput(input, other.input);
  });
  return firstDifference < 0 ? left.length : firstDifference;
}

/** Whether two inputs are the same but for times, owners and random ids. */
export const isSameInput = (a: AgentInput, b: AgentInput): boolean => textOf(a) === textOf(b);

const textOf = (input: AgentInput): string => canonicalJson(comparableInput(input));
