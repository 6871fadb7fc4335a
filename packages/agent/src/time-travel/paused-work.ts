import {
  beginReplay,
  isPaused,
  type AgentInput,
  type AgentState,
  type InputOf,
} from "@moora/agent-core-state-machine";
import {
  openCallOf,
  openCallsOf,
  planKey,
  probeKey,
  recordOf,
  toolKey,
} from "@moora/agent-core-state-machine/internal";
import { callOf, workKeyOf } from "./open-work.ts";

export const isPauseOrResume = ({ type }: AgentInput): boolean =>
  type === "session-paused" || type === "session-resumed";

/**
 * The inputs that settle open work, without pauses and resumes, and such that they settle it also in a state that is paused and
 * stays so. No attempt starts there: what the original session started after its resume has results and no start, under
 * the key that its work has in the paused state.
 */
export function withoutResumes(state: AgentState, settling: readonly AgentInput[]): readonly AgentInput[] {
  if (!isPaused(state)) return settling.filter((input) => !isPauseOrResume(input));
  const original = beginReplay(state);
  const paused = beginReplay(state);
  const inputs: AgentInput[] = [];
  const add = (input: AgentInput): void => {
    if (paused.apply(input) !== undefined) inputs.push(input);
  };
  for (const input of settling) {
    const before = original.state();
    if (original.apply(input) === undefined || isPauseOrResume(input)) continue;
    add(withKeyOf(paused.state(), before, input));
    // Those that the input does not settle there: an opening, for one, interrupts only what has started.
    for (const result of resultsOf(before, original.state())) add(result);
  }
  return inputs;
}

/** The input with the key that its work has in another state, in which fewer attempts were interrupted. */
function withKeyOf(other: AgentState, state: AgentState, input: AgentInput): AgentInput {
  if (!("key" in input) || input.key === undefined) return input;
  const callId = callOf(state, input);
  const [from, to] = [currentKey(state, callId), currentKey(other, callId)];
  if (from === undefined || to === undefined) return input;
  if (input.key === from) return { ...input, key: to };
  return input.key === `wait/${from}` ? { ...input, key: `wait/${to}` } : input;
}

/** The key of the current attempt of a call, or of the model call or handler; undefined if it is not open. */
function currentKey(state: AgentState, callId: string | undefined): string | undefined {
  const { reActContext: context } = state;
  const { control } = context;
  if (callId === undefined) return control.type === "Planning" ? planKey(context, control) : workKeyOf(state);
  const call = openCallOf(control, callId);
  if (call === undefined) return undefined;
  return call.status.type === "probing" ? probeKey(call) : toolKey(call);
}

/** The results of the calls that are open in a state and not in the next one, as inputs that settle any attempt. */
const resultsOf = (state: AgentState, next: AgentState): readonly InputOf<"tool-call-completed">[] =>
  openCallsOf(state.reActContext.control).flatMap(({ id: toolCallId }) => {
    const result = recordOf(next, toolCallId)?.result ?? null;
    const isOpen = openCallOf(next.reActContext.control, toolCallId) !== undefined;
    if (isOpen || result === null) return [];
    return [{ type: "tool-call-completed", toolCallId, result, timestamp: next.updatedAt }];
  });
