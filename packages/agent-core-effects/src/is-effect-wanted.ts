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
import { isHeld } from "./held-effects.ts";

/** Whether a state wants an effect: whether `effectsAt` contains its key, without computing the other effects. */
export function isEffectWanted(state: AgentState, effect: AgentEffect): boolean {
  return isOpen(state, effect) && !(isPaused(state) && isHeld(effect, state));
}

/** Whether the work of an effect is open, also while the session is paused. */
function isOpen(state: AgentState, effect: AgentEffect): boolean {
  const { reActContext: context } = state;
  const { control } = context;
  const { key } = effect;
  switch (effect.type) {
    case "call-llm":
      return llmCallKey(state) === key;
    case "call-tool": {
      // A call with a result is not open. Its record is found at once; a search would pass all open calls.
      if (recordOf(state, effect.toolCallId)?.result != null) return false;
      const call = openCallOf(control, effect.toolCallId);
      return call?.status.type === "running" && toolKey(call) === key;
    }
    case "probe-tool": {
      const call = openCallOf(control, effect.toolCallId);
      return call?.status.type === "probing" && probeKey(call) === key;
    }
    case "ask-human": {
      const call = openCallOf(control, effect.toolCallId);
      return call?.status.type === "asking" && askKey(call, call.status) === key;
    }
    case "run-state":
      return control.type === "Custom" && isLoopRunning(state) && stateKey(context, control) === key;
    case "wait-until":
      return waitAt(state, key) !== undefined;
  }
}
