import type { DataDefinition, Recipe } from "@moora/agent-core-effects";
import { shownValue } from "@moora/agent-core-effects/internal";
import {
  beginReplay,
  inputsIn,
  isLoopRunning,
  rulesVersion,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import { chainStart, type EventLog, type LogRecord } from "@moora/event-log";
import { checkIsLog, checkIsSeq } from "../check-arguments.ts";
import { checkLogOptions, type OptionForms } from "../check-options.ts";
import { checkIsNotClosed } from "../durable/closed-session.ts";
import { inTurns } from "../durable/in-turns.ts";
import { SessionError } from "../durable/session-error.ts";
import { headerToState, headerToText, identityOf, type SessionHeader } from "../durable/session-header.ts";
import { changeAt } from "../session/data-updater.ts";
import { parseOrRefuse } from "../session/parse-or-refuse.ts";
import { randomId } from "../user-message.ts";
import {
  callsBegunIn,
  closingInputs,
  closingOfCopy,
  unschedulingInputs,
  withoutOpenWork,
} from "./open-work.ts";
import { appliedRecords } from "./applied-records.ts";
import { copyBlobs } from "./copy-blobs.ts";
import { rebinder } from "./rebinder.ts";
import {
  end,
  positionIn,
  positionOf,
  sessionLog,
  soundPartOf,
  type RecordedSession,
} from "./read-session.ts";
import { settlingInputs } from "./settling-inputs.ts";
import { writeSession } from "./write-session.ts";

/**
 * What happens to work that is open at the position. Schedules are removed in each case: the original continues them.
 *
 * - `reuse`: its outcome is taken from the original log, also the decision of a question, which stays open if the original has none;
 *   that of a call which has begun and has none there counts as unknown, unless its tool is `safe`, and one that a person has
 *   approved and that has not begun counts as not run: the approval was for one run.
 * - `rerun`: it runs again, as if it had not started, also with its approval.
 * - `close`: a call that had not started counts as not run, the outcome of one that had started as unknown.
 */
export type OpenWork = "reuse" | "rerun" | "close";

/** The options of `forkSession`. `Data` is the type of the application data that `update` changes. */
export interface ForkOptions<Data = unknown> {
  /** The id of the new session. */
  readonly as: string;
  /** The log for the new session. Default: the log of the original session. */
  readonly to?: EventLog;
  /** The user to whom the new session belongs. Default: that of the original session. */
  readonly user?: string;
  /** What happens to work that is open at the position. */
  readonly open: OpenWork;
  /**
   * Returns the input for the new session: the same, a changed one, or null to leave it out. `seq` is the record of the
   * original session. Default: no changes.
   */
  readonly edit?: (input: AgentInput, seq: number) => AgentInput | null;
  /** The application data of the agent, whose schema the result of `update` must fit. */
  readonly data?: DataDefinition<Data>;
  /**
   * Changes the application data of the new session. It becomes the last record of the fork, after open work is settled. The
   * model reads it in the next step that starts. Needs `data`. Default: no change.
   */
  readonly update?: Recipe<Data>;
}

/** The result of a fork. */
export interface Forked {
  /** The id of the new session. */
  readonly id: string;
  /** The number of records of the new session. */
  readonly seq: number;
  /** The number of inputs that no longer apply because of an edit. They are not in the new session. */
  readonly dropped: number;
  /** The state of the new session. */
  readonly state: AgentState;
}

/**
 * Creates a new session from the first `seq` records of another one. Any position is possible, also within a batch of
 * tool calls. The fork has no `requestId` of the original, and messages of posts have other ids there: no post to the fork is a repetition
 * of one to the original. In a damaged log the position must be before the damage. Rejects with `LogCorrupt` for a position behind
 * it, and if `open: "reuse"` needs records behind it; with `SessionUnknown` for an unknown session; with
 * `MoveUnfinished` for a session that a move, a fork or an import has closed, or `SessionIncomplete` if that fork or import was
 * interrupted; with `InvalidOption` for an unknown or invalid option and for a
 * record that the session does not have; with `DataRefused` for an update that does not fit the schema, and for a session whose data
 * has another version. No session is created then.
 */
export async function forkSession<Data = unknown>(
  log: EventLog,
  id: string,
  seq: number,
  options: ForkOptions<Data>,
): Promise<Forked> {
  checkForkOptions(log, seq, options);
  const { as, to = log, open, edit } = options;
  const original = await sessionLog(log, id);
  await checkIsNotClosed(original);
  const sound = await soundPartOf(original);
  const position = positionIn(sound, seq);
  // What begins with the last record settles as what follows it does.
  const inputs = open === "reuse" ? beginningApart(sound.inputs, position) : sound.inputs;
  const session = { ...sound, inputs };
  const edited = await editedInputs(session.inputs.slice(0, position), edit);
  const header = headerOfFork(session.header, { id, seq: position }, options.user);
  const copy = await recordsOf(as, header, edited);
  const { settled, closing } = await settledInputs(open, { session, position, edited, state: copy.state });
  const unscheduling: InputsAt = (reached) => unschedulingInputs(reached, "fork");
  const fork = await recordsOf(as, header, settled, [...closing, unscheduling, ...updatesOf(options)]);
  await copyBlobs(log, to, fork.records);
  await writeSession(to, as, headerToText(header), fork.records);
  return {
    id: as,
    seq: fork.records.length,
    dropped: edited.length - copy.records.length,
    state: fork.state,
  };
}

/** Inputs of which the one at a position says only what has happened: what begins with it are inputs after it. */
const beginningApart = (inputs: readonly AgentInput[], position: number): readonly AgentInput[] => [
  ...inputs.slice(0, Math.max(position - 1, 0)),
  ...inputs.slice(Math.max(position - 1, 0), position).flatMap(inputsIn),
  ...inputs.slice(position),
];

/** The inputs of a fork: those of the original session, each as the edit returns it. */
async function editedInputs(
  inputs: readonly AgentInput[],
  edit: ForkOptions["edit"],
): Promise<readonly AgentInput[]> {
  const edited: AgentInput[] = [];
  await inTurns(inputs.entries(), ([index, input]) => {
    // This record confirms a snapshot of the original session, which the new session does not have.
    if (input.type === "snapshot-taken") return;
    // An edit may change its argument, which must stay as it is in the original session.
    const changed = edit === undefined ? input : edit(structuredClone(input), index + 1);
    if (changed !== null) edited.push(edit === undefined ? changed : parseOrRefuse(changed));
  });
  return edited;
}

/** The header of a fork: a session of its own, which no call of a sub-agent has opened. */
function headerOfFork(
  original: SessionHeader,
  parent: NonNullable<SessionHeader["parent"]>,
  user: string | undefined,
): SessionHeader {
  const { caller: _, ...own } = original;
  const ofUser = user === undefined ? {} : { user };
  return { ...own, ...ofUser, rules: rulesVersion, incarnation: randomId("incarnation"), parent };
}

const forms: OptionForms<ForkOptions> = {
  as: "string",
  to: "any",
  user: "string",
  open: "any",
  edit: "function",
  data: "object",
  update: "function",
};

const openWorkOptions: readonly unknown[] = ["reuse", "rerun", "close"];

/** Throws `InvalidOption` for a value that is not a log, and for an unknown or invalid option. */
function checkForkOptions(log: unknown, seq: unknown, options: unknown): void {
  checkIsLog(log);
  checkIsSeq("seq", seq);
  checkLogOptions("forkSession", options, forms);
  const { as, to, open, data, update } = options;
  if ((data === undefined) !== (update === undefined)) {
    const missing =
      data === undefined
        ? "data is missing. Give the definition of the data"
        : "update is missing. Give a recipe";
    throw new SessionError("InvalidOption", `${missing}: forkSession needs both, or neither.`);
  }
  if (data !== undefined && typeof Reflect.get(Object(data), "change") !== "function") {
    throw new SessionError(
      "InvalidOption",
      `data of forkSession was not created by defineData, got ${shownValue(data)}.`,
    );
  }
  if (typeof as !== "string")
    throw new SessionError("InvalidOption", "as is missing. Give the id of the new session.");
  if (to !== undefined) checkIsLog(to);
  if (!openWorkOptions.includes(open)) {
    throw new SessionError(
      "InvalidOption",
      `open must be "reuse", "rerun" or "close", got ${shownValue(open)}.`,
    );
  }
}

/** Where a session is forked. */
interface ForkPoint {
  readonly session: RecordedSession;
  readonly position: number;
  /** The inputs before the position, as they were edited. */
  readonly edited: readonly AgentInput[];
  /** The state after them. */
  readonly state: AgentState;
}

/** The inputs of a fork: those before its position with those that settle the open work, and those that close what is left. */
async function settledInputs(
  open: OpenWork,
  { session, position, edited, state }: ForkPoint,
): Promise<{ readonly settled: readonly AgentInput[]; readonly closing: readonly InputsAt[] }> {
  switch (open) {
    case "reuse": {
      const { state: original } = await positionOf(session, position);
      if (isLoopRunning(original)) positionIn(session, end);
      const later = session.inputs.slice(position);
      return {
        settled: [...edited, ...settlingInputs(original, later)],
        // The calls of an answer that the original has got later are among those that it may have begun.
        closing: [
          (reached) =>
            closingOfCopy(reached, {
              begunLater: callsBegunIn(later, reached),
              hasSameKeys: false,
              made: "forked",
            }),
        ],
      };
    }
    case "close":
      return { settled: [...edited, ...closingInputs(state)], closing: [] };
    case "rerun":
      return { settled: withoutOpenWork(state, edited), closing: [] };
  }
}

/** Returns inputs for the state after all inputs before them. */
type InputsAt = (state: AgentState) => readonly AgentInput[];

/** The last input of a fork, which changes its data, if there is a change. */
function updatesOf<Data>({ data, update }: ForkOptions<Data>): readonly InputsAt[] {
  if (data === undefined || update === undefined) return [];
  const inputsAt: InputsAt = (state) => {
    // The definition has checked that the data has the type of its schema.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { patches } = changeAt(state, data, update as Recipe<unknown>);
    return [{ type: "data-changed", patches, by: "fork", timestamp: state.updatedAt }];
  };
  return [inputsAt];
}

/** The records of the inputs that apply, with those that depend on the state after them, and the last state. */
async function recordsOf(
  id: string,
  header: SessionHeader,
  inputs: readonly AgentInput[],
  later: readonly InputsAt[] = [],
): Promise<{ readonly records: readonly LogRecord[]; readonly state: AgentState }> {
  const replay = beginReplay(headerToState(header), { changes: true });
  const rebind = rebinder(identityOf(id, header));
  function* all(): Generator<AgentInput, void> {
    yield* inputs;
    for (const inputsAt of later) yield* inputsAt(replay.state());
  }
  function* bound(): Generator<AgentInput, void> {
    for (const input of all()) yield rebind(input, replay.state);
  }
  const records = await appliedRecords(replay, chainStart(headerToText(header)), bound());
  return { records, state: replay.state() };
}
