import { isLoopRunning, isPaused, type AgentState } from "@moora/agent-core-state-machine";
import {
  askKey,
  llmCallKey,
  openCallOf,
  probeKey,
  recordOf,
  stateKey,
  toolKey,
  waitAt,
} from "@moora/agent-core-state-machine/internal";
import type { AgentEffect } from "./effect.ts";

/** What a state says of an effect. */
interface OpenWork<Effect extends AgentEffect> {
  /** Whether the work is open, also while the session is paused. */
  isOpen(effect: Effect, state: AgentState): boolean;
  /** Whether the state contains the intent of the effect. Absent for one that has none. */
  hasIntent?(effect: Effect, state: AgentState): boolean;
  /** Whether a pause holds the work until it has started. Default: it does not; questions stay open, and deadlines pass. */
  readonly isPausable?: true;
}

/** One row for each type of effect. */
const work: { readonly [Type in AgentEffect["type"]]: OpenWork<Extract<AgentEffect, { type: Type }>> } = {
  "call-llm": {
    isOpen: ({ key }, state) => llmCallKey(state) === key,
    hasIntent: (_, { reActContext: { control } }) => "started" in control && control.started,
    isPausable: true,
  },
  "call-tool": {
    isOpen({ key, toolCallId }, state) {
      // A call with a result is not open. Its record is found at once; a search would pass all open calls.
      if (recordOf(state, toolCallId)?.result != null) return false;
      const call = openCallOf(state.reActContext.control, toolCallId);
      return call?.status.type === "running" && toolKey(call) === key;
    },
    hasIntent({ toolCallId }, { reActContext: { control } }) {
      const status = openCallOf(control, toolCallId)?.status;
      return status?.type === "running" && status.started;
    },
    isPausable: true,
  },
  "probe-tool": {
    isOpen({ key, toolCallId }, { reActContext: { control } }) {
      const call = openCallOf(control, toolCallId);
      return call?.status.type === "probing" && probeKey(call) === key;
    },
    isPausable: true,
  },
  "ask-human": {
    isOpen({ key, toolCallId }, { reActContext: { control } }) {
      const call = openCallOf(control, toolCallId);
      return call?.status.type === "asking" && askKey(call, call.status) === key;
    },
  },
  "run-state": {
    isOpen({ key }, state) {
      const { control } = state.reActContext;
      return (
        control.type === "Custom" && isLoopRunning(state) && stateKey(state.reActContext, control) === key
      );
    },
    hasIntent: (_, { reActContext: { control } }) => "started" in control && control.started,
    isPausable: true,
  },
  "wait-until": { isOpen: ({ key }, state) => waitAt(state, key) !== undefined },
};

const workOf = ({ type }: AgentEffect): OpenWork<AgentEffect> => work[type];

/** Whether a state that wants an effect already contains its intent. */
export const isIntentRecorded = (effect: AgentEffect, state: AgentState): boolean =>
  workOf(effect).hasIntent?.(effect, state) ?? false;

/** Whether an effect of a paused session waits until it is resumed: work that has not started, and a probe, which is asked again. */
export const isHeld = (effect: AgentEffect, state: AgentState): boolean =>
  workOf(effect).isPausable === true && !isIntentRecorded(effect, state);

/** Whether a state wants an effect: whether `effectsAt` contains its key, without computing the other effects. */
export const isEffectWanted = (state: AgentState, effect: AgentEffect): boolean =>
  workOf(effect).isOpen(effect, state) && !(isPaused(state) && isHeld(effect, state));

/** Whether the effect waits to make a call of a model or a tool again: that is work. All other waits are those of questions and schedules. */
export function isRetryWait({ key }: Pick<AgentEffect, "key">, state: AgentState): boolean {
  const type = waitAt(state, key)?.type;
  return type === "retry" || type === "tool-retry";
}
