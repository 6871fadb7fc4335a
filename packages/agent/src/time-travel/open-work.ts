import {
  beginReplay,
  inputTraits,
  isLoopRunning,
  type AgentInput,
  type AgentState,
  type InputOf,
  type OpenCall,
} from "@moora/agent-core-state-machine";
import {
  llmCallKey,
  openCallOf,
  openCallsOf,
  recordOf,
  stateKey,
  toolQuestionOf,
  waitAt,
} from "@moora/agent-core-state-machine/internal";

/** Kinds of work that inputs identify by a key: a model call and the handler of a custom state. */
const keyedWork: ReadonlySet<string | undefined> = new Set(["model-call", "handler"]);

/**
 * Inputs without those that record the start or the progress of work that is open in the state. What that work has done to
 * the application data stays: when it runs again, it sees its earlier updates, as after a crash.
 */
export function withoutOpenWork(state: AgentState, inputs: readonly AgentInput[]): readonly AgentInput[] {
  if (!isLoopRunning(state)) return inputs;
  const isOpenWork = openWorkFilter(state);
  return inputs.flatMap((input) => {
    if (!isOpenWork(input)) return [input];
    return input.type === "data-changed" ? [withoutAuthor(input)] : [];
  });
}

/** A change of data that applies also where its call or handler does not run. */
const withoutAuthor = ({ type, patches, by, timestamp }: InputOf<"data-changed">): AgentInput => ({
  type,
  patches,
  by,
  timestamp,
});

function openWorkFilter(state: AgentState): (input: AgentInput) => boolean {
  const started = new Set(
    openCallsOf(state.reActContext.control).flatMap((call) => (hasStarted(call) ? [call.id] : [])),
  );
  const key = llmCallKey(state) ?? handlerKeyOf(state) ?? "";
  return (input) => {
    const { about, role } = inputTraits[input.type];
    if (role === "answer") return false;
    if ("toolCallId" in input && input.toolCallId !== undefined) return started.has(input.toolCallId);
    if (input.type === "data-changed") return input.key === key;
    return keyedWork.has(about) && "key" in input && input.key === key;
  };
}

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

const forkedHere = "The conversation was forked here.";
const notRun = "Not run: the conversation was forked here.";
const mayHaveRun =
  "The outcome of this call is unknown: it was started and may have had its effect. The conversation was forked here.";

/**
 * The inputs that close open work: a call that had not started becomes `not-run`, one that had started
 * `outcome-unknown`, and a model call is cancelled.
 */
export function closingInputs(state: AgentState): readonly AgentInput[] {
  if (!isLoopRunning(state)) return [];
  const timestamp = state.updatedAt;
  const calls = openCallsOf(state.reActContext.control);
  if (calls.length > 0) return calls.map((call) => toClosingInput(call, state));
  return [{ type: "re-act-cancelled", reason: forkedHere, timestamp }];
}

function toClosingInput(call: OpenCall, state: AgentState): AgentInput {
  const { id: toolCallId, status } = call;
  const { updatedAt: timestamp } = state;
  // A reply to the question of a tool would run the call again.
  if (status.type === "asking" && toolQuestionOf(state, call) === undefined) {
    const { digest, about } = status;
    const answer =
      about === "outcome"
        ? ({ decision: { type: "unknown" }, reason: forkedHere } as const)
        : ({ decision: { type: "rejected" }, reason: notRun } as const);
    return { type: "tool-call-decided", toolCallId, digest, by: "fork", ...answer, timestamp };
  }
  const failure =
    call.mayHaveRun || hasStarted(call)
      ? ({ error: mayHaveRun, code: "outcome-unknown" } as const)
      : ({ error: notRun, code: "not-run" } as const);
  const result = { isSuccess: false, ...failure, receivedAt: timestamp } as const;
  return { type: "tool-call-completed", toolCallId, result, timestamp };
}

/**
 * The later inputs of a session that settle the work that is open in a state: its calls, or its one model call or
 * handler.
 */
export function settlingInputs(state: AgentState, later: readonly AgentInput[]): readonly AgentInput[] {
  if (!isLoopRunning(state)) return [];
  const calls = openCallsOf(state.reActContext.control);
  return calls.length > 0
    ? settlingInputsOfCalls(state, calls, later)
    : settlingInputsOfKeyedWork(state, later);
}

/** The inputs up to the last result of a call. Openings and changes of data are included. */
function settlingInputsOfCalls(
  state: AgentState,
  calls: readonly OpenCall[],
  later: readonly AgentInput[],
): readonly AgentInput[] {
  const replay = beginReplay(state);
  const answers: { readonly input: AgentInput; readonly about: string | undefined }[] = [];
  const open = new Set(calls.map(({ id }) => id));
  let settled = 0;
  let after = state;
  for (const input of later) {
    if (input.type === "re-act-cancelled") break;
    const about = callOf(after, input);
    if (replay.apply(input) === undefined) continue;
    if (isShared(input) || (about !== undefined && open.has(about))) answers.push({ input, about });
    after = replay.state();
    for (const id of open) {
      if (openCallOf(after.reActContext.control, id) !== undefined) continue;
      if (recordOf(after, id)?.result !== null) settled = answers.length;
      open.delete(id);
    }
    if (open.size === 0) break;
  }
  return answers.slice(0, settled).flatMap(({ input, about }) => {
    if (about === undefined || !open.has(about)) return [input];
    return input.type === "data-changed" ? [withoutAuthor(input)] : [];
  });
}

/**
 * Whether an input concerns all open work: attempts are counted by openings, patches of results fit the data before them, and
 * nothing starts in a pause.
 */
const isShared = ({ type }: AgentInput): boolean =>
  type === "session-opened" ||
  type === "data-changed" ||
  type === "session-paused" ||
  type === "session-resumed";

/** The id of the call that an input concerns, by the state before the input. */
function callOf(state: AgentState, input: AgentInput): string | undefined {
  if ("toolCallId" in input) return input.toolCallId;
  const wait = input.type === "deadline-passed" ? waitAt(state, input.key) : undefined;
  return wait === undefined || wait.type === "retry" ? undefined : wait.call.id;
}

/** Whether an input concerns the one open model call or handler. */
const concernsKeyedWork = (input: AgentInput): boolean =>
  keyedWork.has(inputTraits[input.type].about) || input.type === "deadline-passed" || isShared(input);

const endsKeyedWork = ({ type }: AgentInput): boolean =>
  keyedWork.has(inputTraits[type].about) && inputTraits[type].role === "answer";

/** The inputs up to the result of the model call or handler; none if it was ended by another input or is still open. */
function settlingInputsOfKeyedWork(state: AgentState, later: readonly AgentInput[]): readonly AgentInput[] {
  const replay = beginReplay(state);
  const inputs: AgentInput[] = [];
  for (const input of later) {
    if (replay.apply(input) === undefined) continue;
    const isOver = placeOf(replay.state()) !== placeOf(state);
    if (isOver) return endsKeyedWork(input) ? [...inputs, input] : [];
    if (concernsKeyedWork(input)) inputs.push(input);
  }
  return [];
}

const placeOf = ({ reActContext: { loop, step, control } }: AgentState): string =>
  `${loop}/${step}/${control.type}/${control.type === "Custom" ? control.entry : ""}`;
