import type { AgentInput } from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import { checkLogOptions, type OptionForms } from "../check-options.ts";
import { canonicalJson } from "../durable/canonical-json.ts";
import type { LoggedInput } from "../durable/follow-log.ts";
import { comparableInput, comparableState } from "./volatile-fields.ts";
import { differencesOf, type Difference } from "./differences.ts";
import { end, positionOf, readSoundPart } from "./read-session.ts";

/** Where two runs part, and how their states differ at the end. */
export interface SessionDiff {
  /**
   * How many records of `a`, from the first on, are in `b` too; times, owners and random ids do not count, and records of
   * snapshots are passed over.
   */
  readonly common: number;
  /** The first inputs that are not the same; undefined for a run that had ended. */
  readonly a: AgentInput | undefined;
  readonly b: AgentInput | undefined;
  /** Places of the states that differ by more than times, owners and random ids. */
  readonly state: readonly Difference[];
}

const forms: OptionForms<SessionRef> = { log: "any", id: "string", seq: "number" };

export interface SessionRef {
  readonly log: EventLog;
  readonly id: string;
  /** Default: the end. */
  readonly seq?: number;
}

/** Compares two runs record by record, and their final states. */
export async function diffSessions(a: SessionRef, b: SessionRef): Promise<SessionDiff> {
  for (const ref of [a, b]) checkLogOptions("diffSessions", ref, forms);
  const [left, right] = [await programOf(a), await programOf(b)];
  const common = commonLength(left.inputs, right.inputs);
  return {
    common: (left.inputs[common]?.seq ?? left.seq + 1) - 1,
    a: left.inputs[common]?.input,
    b: right.inputs[common]?.input,
    state: differencesOf(comparableState(left.state), comparableState(right.state)),
  };
}

async function programOf({ log, id, seq = end }: SessionRef) {
  const session = await readSoundPart(log, id);
  const position = positionOf(session, seq);
  const inputs = session.inputs
    .slice(0, position.seq)
    .map((input, index): LoggedInput => ({ seq: index + 1, input }))
    .filter(({ input }) => input.type !== "snapshot-taken");
  return { seq: position.seq, state: position.state, inputs };
}

function commonLength(left: readonly LoggedInput[], right: readonly LoggedInput[]): number {
  const parted = left.findIndex(({ input }, index) => {
    const other = right[index];
    return other === undefined || textOf(input) !== textOf(other.input);
  });
  return parted < 0 ? left.length : parted;
}

const textOf = (input: AgentInput): string => canonicalJson(comparableInput(input));
