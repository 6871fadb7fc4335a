import type { AgentEffect, AgentInput } from "@moora/agent";

/**
 * The input that reports that an earlier run of an effect had begun and is gone. The reducer decides by the replay policy of the
 * tool whether there is another run. Undefined for effects that may be run again without a report.
 */
export function interruptionOf(
  effect: AgentEffect,
  owner: string,
  timestamp: number,
): AgentInput | undefined {
  switch (effect.type) {
    case "call-llm": {
      const failure = { kind: "interrupted", message: "The process ended.", retryable: true } as const;
      return { type: "llm-call-failed", key: effect.key, failure, timestamp };
    }
    case "call-tool": {
      const { toolCallId, attempt } = effect;
      return { type: "tool-call-interrupted", toolCallId, attempt, outcome: "unknown", timestamp };
    }
    case "run-state":
      // There is no input for one handler: all work that has started counts as interrupted.
      return { type: "session-opened", owner, agentVersion: "", timestamp };
    case "probe-tool":
    case "ask-human":
    case "wait-until":
      return undefined;
  }
}
