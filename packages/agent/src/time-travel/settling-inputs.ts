import {
  beginReplay,
  inputTraits,
  isLoopRunning,
  type AgentInput,
  type AgentState,
  type OpenCall,
} from "@moora/agent-core-state-machine";
import {
  factOf,
  isScheduleKey,
  openCallOf,
  openCallsOf,
  recordOf,
} from "@moora/agent-core-state-machine/internal";
import { callOf, keyedWork, withoutAuthor, workKeyOf } from "./open-work.ts";
import { isPauseOrResume, withoutResumes } from "./paused-work.ts";

/**
 * The later inputs of a session that settle the work that is open in a state: its calls, or its one model call or
 * handler. Pauses and resumes are not among them: a paused state stays paused, and no other becomes paused.
 */
export function settlingInputs(state: AgentState, later: readonly AgentInput[]): readonly AgentInput[] {
  if (!isLoopRunning(state)) return [];
  const calls = openCallsOf(state.reActContext.control);
  const settling =
    calls.length > 0 ? settlingInputsOfCalls(state, calls, later) : settlingInputsOfKeyedWork(state, later);
  return withoutResumes(state, settling);
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
  return answers.slice(0, settled).flatMap(({ input, about }, index) => {
    // What begins with the last result is not what it settles.
    if (about === undefined || !open.has(about)) return [index === settled - 1 ? factOf(input) : input];
    return input.type === "data-changed" ? [withoutAuthor(input)] : [];
  });
}

/**
 * Whether an input concerns all open work: attempts are counted by openings, patches of results fit the data before them, and
 * nothing starts in a pause.
 */
const isShared = (input: AgentInput): boolean =>
  input.type === "session-opened" || input.type === "data-changed" || isPauseOrResume(input);

/** Whether an input concerns the one open model call or handler. */
const concernsKeyedWork = (input: AgentInput): boolean =>
  keyedWork.has(inputTraits[input.type].about) ||
  (input.type === "deadline-passed" && !isScheduleKey(input.key)) ||
  isShared(input);

const endsKeyedWork = ({ type }: AgentInput): boolean =>
  keyedWork.has(inputTraits[type].about) && inputTraits[type].role === "answer";

/**
 * The inputs up to the result of the model call or handler; none if it is still open, or was ended by another input, such as a
 * change of the configuration, after which the model was sent another request.
 */
function settlingInputsOfKeyedWork(state: AgentState, later: readonly AgentInput[]): readonly AgentInput[] {
  const replay = beginReplay(state);
  const inputs: AgentInput[] = [];
  for (const input of later) {
    const key = workKeyOf(replay.state());
    if (replay.apply(input) === undefined) continue;
    if (input.type === "agent-configured" && workKeyOf(replay.state()) !== key) return [];
    const isOver = placeOf(replay.state()) !== placeOf(state);
    if (isOver) return endsKeyedWork(input) ? [...inputs, factOf(input)] : [];
    if (concernsKeyedWork(input)) inputs.push(input);
  }
  return [];
}

const placeOf = ({ reActContext: { loop, step, control } }: AgentState): string =>
  `${loop}/${step}/${control.type}/${control.type === "Custom" ? control.entry : ""}`;
