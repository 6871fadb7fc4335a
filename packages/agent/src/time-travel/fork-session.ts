import { shownValue } from "@moora/agent-core-effects/internal";
import {
  beginReplay,
  isLoopRunning,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import { chainStart, type EventLog, type LogRecord } from "@moora/event-log";
import { checkIsLog } from "../check-arguments.ts";
import { checkLogOptions, type OptionForms } from "../check-options.ts";
import { SessionError } from "../durable/session-error.ts";
import { headerToState, headerToText, identityOf, type SessionHeader } from "../durable/session-header.ts";
import { inputToRecord } from "../durable/session-record.ts";
import { parsed } from "../session/parse-or-refuse.ts";
import { randomId } from "../user-message.ts";
import { answersOf, closing, isOfOpenWork } from "./open-work.ts";
import { rebinder } from "./rebinder.ts";
import { end, positionIn, positionOf, readSoundPart } from "./read-session.ts";
import { writeSession } from "./write-session.ts";

/**
 * What happens to work that was under way at the position: `reuse` its outcome in the original log, `rerun` it as if it had
 * not begun, or `close` it: as not run where it had not started, as unknown where it had.
 */
export type OpenWork = "reuse" | "rerun" | "close";

export interface ForkOptions {
  /** The id of the new session. */
  readonly as: string;
  /** Where the new session goes; default: the same log. */
  readonly to?: EventLog;
  readonly open: OpenWork;
  /** Changes an input on its way into the new session, or leaves it out with null. What it gives has to be an input. */
  readonly edit?: (input: AgentInput, seq: number) => AgentInput | null;
}

export interface Forked {
  readonly id: string;
  /** Records of the new session. */
  readonly seq: number;
  /** Inputs that an edit made inapplicable: they are not in the new session. */
  readonly dropped: number;
  readonly state: AgentState;
}

/**
 * Starts a new session from any position of another one, also from within a batch of tool calls. Of a damaged log, from any
 * position before the damage; rejects with `LogCorrupt` for one behind it, and where `open: "reuse"` would need records behind
 * it, since work is open at the position. Rejects with `InvalidOption` for options with an unknown name or of the wrong form.
 */
export async function forkSession(
  log: EventLog,
  id: string,
  seq: number,
  options: ForkOptions,
): Promise<Forked> {
  checkForkOptions(log, seq, options);
  const { as, to = log, open, edit = (input) => input } = options;
  const session = await readSoundPart(log, id);
  const position = positionIn(session, seq);
  const edited = session.inputs.slice(0, position).flatMap((input, index) => {
    // It confirms a snapshot of the other session, and must not confirm one of this.
    if (input.type === "snapshot-taken") return [];
    const changed = edit(input, index + 1);
    return changed === null ? [] : [changed === input ? input : parsed(changed)];
  });
  const header = { ...session.header, incarnation: randomId("incarnation"), parent: { id, seq: position } };
  const copy = recordsOf(as, header, edited);
  const reused = (): readonly AgentInput[] => {
    const { state } = positionOf(session, position);
    if (isLoopRunning(state)) positionIn(session, end);
    return answersOf(state, session.inputs.slice(position));
  };
  const fork = recordsOf(as, header, inputsOf(open, edited, copy.state, reused));
  await writeSession(to, as, headerToText(header), fork.records);
  return {
    id: as,
    seq: fork.records.length,
    dropped: edited.length - copy.records.length,
    state: fork.state,
  };
}

const forms: OptionForms<ForkOptions> = { as: "string", to: "any", open: "any", edit: "function" };

const ways: readonly unknown[] = ["reuse", "rerun", "close"];

/** Throws `InvalidOption` for what is not a log, and for options with an unknown name or of the wrong form. */
function checkForkOptions(log: unknown, seq: unknown, options: unknown): void {
  checkIsLog(log);
  if (typeof seq !== "number")
    throw new SessionError("InvalidOption", `seq must be the number of a record, got ${shownValue(seq)}.`);
  checkLogOptions("forkSession", options, forms);
  const { as, to, open } = options;
  if (typeof as !== "string")
    throw new SessionError("InvalidOption", "as is missing. Give the id of the new session.");
  if (to !== undefined) checkIsLog(to);
  if (!ways.includes(open)) {
    throw new SessionError(
      "InvalidOption",
      `open must be "reuse", "rerun" or "close", got ${shownValue(open)}.`,
    );
  }
}

/** The inputs of a fork: those before it, and what settles the work that was open there. */
function inputsOf(
  open: OpenWork,
  before: readonly AgentInput[],
  state: AgentState,
  reused: () => readonly AgentInput[],
): readonly AgentInput[] {
  switch (open) {
    case "reuse":
      return [...before, ...reused()];
    case "close":
      return [...before, ...closing(state)];
    case "rerun": {
      const isUnderWay = isOfOpenWork(state);
      return before.filter((input) => !isUnderWay(input));
    }
  }
}

/** The records of those inputs that apply, and the state that they lead to. */
function recordsOf(
  id: string,
  header: SessionHeader,
  inputs: readonly AgentInput[],
): { readonly records: readonly LogRecord[]; readonly state: AgentState } {
  const replay = beginReplay(headerToState(header), { changes: true });
  const rebind = rebinder(identityOf(id, header));
  const records: LogRecord[] = [];
  let head = chainStart(headerToText(header));
  for (const original of inputs) {
    const input = rebind(original, replay.state);
    const step = replay.apply(input);
    if (step === undefined) continue;
    const record = inputToRecord(head, input, step.changes);
    records.push(record);
    head = record;
  }
  return { records, state: replay.state() };
}
