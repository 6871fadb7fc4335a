import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import type { AgentEffect } from "../effect.ts";
import { effectsAt } from "../effects-at.ts";
import { isIntentRecorded } from "./intent-of.ts";

/**
 * The input that records that an earlier run of an effect was interrupted; undefined if the state does not contain the intent of
 * the effect, or no longer wants it. For a host that runs an effect again after a crash, where `session-opened` would interrupt
 * the work of other processes: dispatch it instead of running the effect. The replay policy decides what runs then, under a
 * new key.
 */
export function interruptionOf(
  effect: AgentEffect,
  state: AgentState,
  timestamp: number,
): AgentInput | undefined {
  const { key } = effect;
  if (!Object.hasOwn(effectsAt(state), key) || !isIntentRecorded(effect, state)) return undefined;
  switch (effect.type) {
    case "call-llm":
      return { type: "llm-call-interrupted", key, timestamp };
    case "call-tool": {
      const { toolCallId, attempt } = effect;
      return { type: "tool-call-interrupted", toolCallId, attempt, outcome: "unknown", timestamp };
    }
    case "run-state":
      return { type: "state-handler-interrupted", key, timestamp };
    case "probe-tool":
    case "ask-human":
    case "wait-until":
      return undefined;
  }
}
