import type { AgentInput } from "@moora/agent-core-state-machine";
import type { AgentEffect } from "../effect.ts";
import { errorText } from "../error-text.ts";
import { UnloggableInput } from "./assert-loggable.ts";

/**
 * The input for an effect whose program threw, so that every effect ends with an answer. Undefined for a question, which
 * stays open for its reviewers, and for a wait, which only depends on the clock.
 */
export function failureInput(effect: AgentEffect, error: unknown, timestamp: number): AgentInput | undefined {
  const message = errorText(error);
  switch (effect.type) {
    case "call-llm": {
      const unreadable = error instanceof UnloggableInput;
      const failure = {
        kind: unreadable ? "malformed" : "unknown",
        message,
        retryable: unreadable,
      } as const;
      return { type: "llm-call-failed", key: effect.key, failure, timestamp };
    }
    case "call-tool": {
      const { key, toolCallId } = effect;
      const result = { isSuccess: false, error: message, code: "tool-error", receivedAt: timestamp } as const;
      return { type: "tool-call-completed", toolCallId, key, result, timestamp };
    }
    case "probe-tool": {
      const { toolCallId, attempt } = effect;
      return { type: "tool-call-interrupted", toolCallId, attempt, outcome: "unknown", timestamp };
    }
    case "run-state":
      return { type: "state-handled", key: effect.key, event: "HandlerFailed", note: message, timestamp };
    case "ask-human":
    case "wait-until":
      return undefined;
  }
}
