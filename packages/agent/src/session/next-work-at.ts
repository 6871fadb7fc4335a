import { effectsAt } from "@moora/agent-core-effects";
import type { AgentState } from "@moora/agent-core-state-machine";

/**
 * When the work of a state continues, in milliseconds since 1970: 0 if there is work now, the earliest retry, deadline, reminder or
 * escalation otherwise, and null if only a new input can continue it.
 */
export function nextWorkAt(state: AgentState): number | null {
  const times = Object.values(effectsAt(state)).flatMap((effect) => {
    if (effect.type === "ask-human") return [];
    return [effect.type === "wait-until" ? effect.due : 0];
  });
  return times.length === 0 ? null : Math.min(...times);
}
