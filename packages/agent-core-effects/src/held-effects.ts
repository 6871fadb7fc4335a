import type { AgentState } from "@moora/agent-core-state-machine";
import type { AgentEffect } from "./effect.ts";
import { isIntentRecorded } from "./run/intent-of.ts";

/**
 * Whether an effect of a paused session waits until it is resumed: a model call, a tool or a handler that has not started, and a
 * probe, which has no intent and is asked again. Questions stay open, and deadlines pass.
 */
export function isHeld(effect: AgentEffect, state: AgentState): boolean {
  switch (effect.type) {
    case "call-llm":
    case "call-tool":
    case "run-state":
      return !isIntentRecorded(effect, state);
    case "probe-tool":
      return true;
    case "ask-human":
    case "wait-until":
      return false;
  }
}
