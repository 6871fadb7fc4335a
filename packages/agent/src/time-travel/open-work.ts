import {
  beginReplay,
  inputTraits,
  isLoopRunning,
  type AgentInput,
  type AgentState,
  type OpenCall,
} from "@moora/agent-core-state-machine";
import {
  llmCallKey,
  openCallOf,
  openCallsOf,
  recordOf,
  stateKey,
  waitAt,
} from "@moora/agent-core-state-machine/internal";

/** Work that inputs name by its key: a model call, the handler of a custom state. */
const keyedWork: ReadonlySet<string | undefined> = new Set(["model-call", "handler"]);

/** Whether an input is the intent, or another trace, of work that is under way in a state. */
export function isOfOpenWork(state: AgentState): (input: AgentInput) => boolean {
  if (!isLoopRunning(state)) return () => false;
  const begun = new Set(
    openCallsOf(state.reActContext.control).flatMap((call) => (hasBegun(call) ? [call.id] : [])),
  );
  const key = llmCallKey(state) ?? handlerKeyOf(state) ?? "";
  return (input) => {
    const { about, role } = inputTraits[input.type];
    if (role === "answer") return false;
    if ("toolCallId" in input) return begun.has(input.toolCallId);
    return keyedWork.has(about) && "key" in input && input.key === key;
  };
}

/** The key of the handler that is wanted now, if the loop is in a custom state. */
function handlerKeyOf({ reActContext: context }: AgentState): string | undefined {
  const { control } = context;
  return control.type === "Custom" ? stateKey(context, control) : undefined;
}

/** Whether a call was started, also where it is not known what became of it. */
const hasBegun = ({ status }: OpenCall): boolean =>
  status.type === "probing" ||
  (status.type === "running" && status.started) ||
  (status.type === "asking" && status.about === "outcome");

const forkedHere = "The conversation was forked here.";
const notRun = "Not run: the conversation was forked here.";
const mayHaveRun =
  "The outcome of this call is unknown: it was started and may have had its effect. The conversation was forked here.";

/**
 * The inputs that close what is open: calls as not run, calls that had begun as ones with an unknown outcome, a model call
 * as cancelled.
 */
export function closing(state: AgentState): readonly AgentInput[] {
  if (!isLoopRunning(state)) return [];
  const timestamp = state.updatedAt;
  const calls = openCallsOf(state.reActContext.control);
  if (calls.length > 0) return calls.map((call) => closed(call, timestamp));
  return [{ type: "re-act-cancelled", reason: forkedHere, timestamp }];
}

function closed(call: OpenCall, timestamp: number): AgentInput {
  const { id: toolCallId, status } = call;
  if (status.type === "asking") {
    const { digest, about } = status;
    const answer =
      about === "outcome"
        ? ({ decision: { type: "unknown" }, reason: forkedHere } as const)
        : ({ decision: { type: "rejected" }, reason: notRun } as const);
    return { type: "tool-call-decided", toolCallId, digest, by: "fork", ...answer, timestamp };
  }
  const failure =
    call.mayHaveRun || hasBegun(call)
      ? ({ error: mayHaveRun, code: "outcome-unknown" } as const)
      : ({ error: notRun, code: "not-run" } as const);
  const result = { isSuccess: false, ...failure, receivedAt: timestamp } as const;
  return { type: "tool-call-completed", toolCallId, result, timestamp };
}

/** What a session recorded later about the work that is open in a state: of its calls, or of its one model call or handler. */
export function answersOf(state: AgentState, later: readonly AgentInput[]): readonly AgentInput[] {
  if (!isLoopRunning(state)) return [];
  const calls = openCallsOf(state.reActContext.control);
  return calls.length > 0 ? answersOfCalls(state, calls, later) : answersOfKeyedWork(state, later);
}

/** Up to the last result; takings-up stand among them, since attempts are counted by them. */
function answersOfCalls(
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
    if (input.type === "session-opened" || (about !== undefined && open.has(about)))
      answers.push({ input, about });
    after = replay.state();
    for (const id of open) {
      if (openCallOf(after.reActContext.control, id) !== undefined) continue;
      if (recordOf(after, id)?.result !== null) settled = answers.length;
      open.delete(id);
    }
    if (open.size === 0) break;
  }
  return answers
    .slice(0, settled)
    .flatMap(({ input, about }) => (about !== undefined && open.has(about) ? [] : [input]));
}

/** The call that an input is about, given the state that the input results in. */
function callOf(state: AgentState, input: AgentInput): string | undefined {
  if ("toolCallId" in input) return input.toolCallId;
  const wait = input.type === "deadline-passed" ? waitAt(state, input.key) : undefined;
  return wait === undefined || wait.type === "retry" ? undefined : wait.call.id;
}

/** Whether an input is part of the story of the one model call or handler that is open. Attempts are counted by openings. */
const isOfKeyedWork = ({ type }: AgentInput): boolean =>
  keyedWork.has(inputTraits[type].about) || type === "deadline-passed" || type === "session-opened";

const endsKeyedWork = ({ type }: AgentInput): boolean =>
  keyedWork.has(inputTraits[type].about) && inputTraits[type].role === "answer";

/** Up to the input that ended the call or the handler; nothing where something else ended it, or nothing did. */
function answersOfKeyedWork(state: AgentState, later: readonly AgentInput[]): readonly AgentInput[] {
  const replay = beginReplay(state);
  const answers: AgentInput[] = [];
  for (const input of later) {
    if (replay.apply(input) === undefined) continue;
    const isOver = placeOf(replay.state()) !== placeOf(state);
    if (isOver) return endsKeyedWork(input) ? [...answers, input] : [];
    if (isOfKeyedWork(input)) answers.push(input);
  }
  return [];
}

const placeOf = ({ reActContext: { loop, step, control } }: AgentState): string =>
  `${loop}/${step}/${control.type}/${control.type === "Custom" ? control.entry : ""}`;
