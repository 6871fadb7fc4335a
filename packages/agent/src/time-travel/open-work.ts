import {
  inputsIn,
  inputTraits,
  isLoopRunning,
  type AgentInput,
  type AgentState,
  type InputOf,
  type OpenCall,
} from "@moora/agent-core-state-machine";
import {
  closedByFork,
  factOf,
  llmCallKey,
  openCallsOf,
  recordOf,
  schedulesAt,
  stateKey,
  toolQuestionOf,
  waitAt,
} from "@moora/agent-core-state-machine/internal";

/** Kinds of work that inputs identify by a key: a model call and the handler of a custom state. */
export const keyedWork: ReadonlySet<string | undefined> = new Set(["model-call", "handler"]);

/**
 * Inputs without those that record the start or the progress of work that is open in the state. What that work has done to
 * the application data stays: when it runs again, it sees its earlier updates, as after a crash.
 */
export function withoutOpenWork(state: AgentState, inputs: readonly AgentInput[]): readonly AgentInput[] {
  if (!isLoopRunning(state)) return inputs;
  const isOpenWork = openWorkFilter(state);
  return inputs.flatMap((input) => {
    if (!isOpenWork(input)) return [withoutStarts(input, isOpenWork)];
    return input.type === "data-changed" ? [withoutAuthor(input)] : [];
  });
}

/** An input without those of its starts that are open. */
function withoutStarts(input: AgentInput, isOpen: (part: AgentInput) => boolean): AgentInput {
  const { starts, timestamp } = input;
  if (starts === undefined) return input;
  const kept = starts.filter((start) => !isOpen({ ...start, timestamp }));
  return kept.length === 0 ? factOf(input) : { ...input, starts: kept };
}

/** A change of data that applies also where its call or handler does not run. */
export const withoutAuthor = ({ type, patches, by, timestamp }: InputOf<"data-changed">): AgentInput => ({
  type,
  patches,
  by,
  timestamp,
});

function openWorkFilter(state: AgentState): (input: AgentInput) => boolean {
  const started = new Set(
    openCallsOf(state.reActContext.control).flatMap((call) => (hasStarted(call) ? [call.id] : [])),
  );
  const key = workKeyOf(state) ?? "";
  return (input) => {
    const { about, role } = inputTraits[input.type];
    if (role === "answer") return false;
    if ("toolCallId" in input && input.toolCallId !== undefined) return started.has(input.toolCallId);
    if (input.type === "data-changed") return input.key === key;
    return keyedWork.has(about) && "key" in input && input.key === key;
  };
}

/** The key of the open model call or handler; undefined in a state that has neither. */
export const workKeyOf = (state: AgentState): string | undefined => llmCallKey(state) ?? handlerKeyOf(state);

/** The key of the current handler, if the loop is in a custom state. */
function handlerKeyOf({ reActContext: context }: AgentState): string | undefined {
  const { control } = context;
  return control.type === "Custom" ? stateKey(context, control) : undefined;
}

/** Whether a call was started, also if its outcome is unknown. */
const hasStarted = ({ status }: OpenCall): boolean =>
  status.type === "probing" ||
  (status.type === "running" && status.started) ||
  (status.type === "asking" && status.about === "outcome");

const madeHere = (made: Made): string => `conversation was ${made} here.`;
const notRun = (made: Made): string => `Not run: the ${madeHere(made)}`;
const mayHaveRun = (made: Made): string =>
  `The outcome of this call is unknown: it was started and may have had its effect. The ${madeHere(made)}`;

/**
 * The inputs that close open work: a call that had not started becomes `not-run`, one that had started
 * `outcome-unknown`, and a model call is canceled.
 */
export function closingInputs(state: AgentState): readonly AgentInput[] {
  if (!isLoopRunning(state)) return [];
  const timestamp = state.updatedAt;
  const calls = openCallsOf(state.reActContext.control);
  if (calls.length > 0) return calls.map((call) => toClosingInput(call, state, "forked"));
  return [{ type: "re-act-cancelled", reason: `The ${madeHere("forked")}`, timestamp }];
}

/** The inputs that remove the schedules of a copy: its original continues them. */
export const unschedulingInputs = (state: AgentState, by: string): readonly AgentInput[] =>
  schedulesAt(state).map(({ id: scheduleId }) => ({
    type: "schedule-changed",
    scheduleId,
    schedule: null,
    by,
    timestamp: state.updatedAt,
  }));

/** How the calls of a copy are related to those of its original. */
export interface CopiedCalls {
  /** The ids of the calls that the original has begun after the copied records, as far as is known. */
  readonly begunLater: ReadonlySet<string>;
  /** Whether the calls of the copy have the idempotency keys of the original. */
  readonly hasSameKeys: boolean;
  /** How the copy was made, for the results of the calls that are closed. */
  readonly made: Made;
}

type Made = "forked" | "imported";

/**
 * The inputs that end the calls which a copy of a session must not run. A call that has begun, also in an earlier attempt or after the
 * copied records, must not begin again with another idempotency key, nor be probed with it: its outcome is unknown. One that was approved
 * and has not begun does not run: the approval was for one run, which is that of the original, and so is the answer to the question of a
 * tool. Calls that run `once`, had begun and have no probe are not among them: their outcome is unknown when the session is opened.
 */
export function closingOfCopy(state: AgentState, copied: CopiedCalls): readonly AgentInput[] {
  if (!isLoopRunning(state)) return [];
  return openCallsOf(state.reActContext.control).flatMap((call) => {
    const closed = callToClose(state, call, copied);
    return closed === undefined ? [] : [toClosingInput(closed, state, copied.made)];
  });
}

/** An open call that a copy must not run, with what is known of its runs; undefined for one that it may run, or that waits. */
function callToClose(
  state: AgentState,
  call: OpenCall,
  { begunLater, hasSameKeys }: CopiedCalls,
): OpenCall | undefined {
  const { name = "", decision } = recordOf(state, call.id) ?? {};
  const { replay, probe } = state.tools[name] ?? {};
  const isKeyed = replay === "keyed";
  if (call.status.type === "asking") return undefined;
  if (hasStarted(call)) {
    // A probe finds nothing under another idempotency key, so that the call would run again.
    const needsSameKey = isKeyed || probe === true;
    return needsSameKey && !hasSameKeys ? call : undefined;
  }
  if (replay === "safe") return decision === undefined || call.mayHaveRun ? undefined : call;
  // A tool that has asked has done what comes before its question.
  const hasRun = call.mayHaveRun || begunLater.has(call.id) || (call.asked ?? 0) > 0;
  if (hasRun) return isKeyed && hasSameKeys ? undefined : { ...call, mayHaveRun: true };
  return decision === undefined ? undefined : call;
}

/** The ids of the calls that are open in a state and begin in later inputs, up to a cancel. */
export function callsBegunIn(inputs: readonly AgentInput[], state: AgentState): ReadonlySet<string> {
  const open = new Set(openCallsOf(state.reActContext.control).map(({ id }) => id));
  const end = inputs.findIndex(({ type }) => type === "re-act-cancelled");
  const before = end === -1 ? inputs : inputs.slice(0, end);
  const begun = before
    .flatMap(inputsIn)
    .flatMap((input) => (input.type === "tool-call-started" ? [input.toolCallId] : []));
  return new Set(begun.filter((id) => open.has(id)));
}

function toClosingInput(call: OpenCall, state: AgentState, made: Made): AgentInput {
  const { id: toolCallId, status } = call;
  const { updatedAt: timestamp } = state;
  // A reply to the question of a tool would run the call again. Only a fork closes other questions.
  if (status.type === "asking" && toolQuestionOf(state, call) === undefined) {
    const { digest, about } = status;
    const decision = { type: about === "outcome" ? "unknown" : "rejected" } as const;
    return { type: "tool-call-decided", toolCallId, digest, ...closedByFork, decision, timestamp };
  }
  const failure =
    call.mayHaveRun || hasStarted(call)
      ? ({ error: mayHaveRun(made), code: "outcome-unknown" } as const)
      : ({ error: notRun(made), code: "not-run" } as const);
  const result = { isSuccess: false, ...failure, receivedAt: timestamp } as const;
  return { type: "tool-call-completed", toolCallId, result, timestamp };
}

/** The id of the call that an input concerns, by the state before the input. */
export function callOf(state: AgentState, input: AgentInput): string | undefined {
  if ("toolCallId" in input) return input.toolCallId;
  const wait = input.type === "deadline-passed" ? waitAt(state, input.key) : undefined;
  return wait !== undefined && "call" in wait ? wait.call.id : undefined;
}
