import { AgentError, type AgentErrorKind } from "@moora/agent-core-effects";
import type { AgentFailure, AgentState, Trace } from "@moora/agent-core-state-machine";
import { answerFailureText } from "./answer-failure.ts";

function failureToKind(failure: AgentFailure): AgentErrorKind {
  switch (failure.source) {
    case "model":
      return "LlmError";
    case "loop":
      return failure.kind === "Cancelled" ? "Cancelled" : "AgentFailed";
    case "graph":
      return failure.event === "NoHandlerForState" ? "NoHandlerForState" : failure.kind;
    case "event":
      return failure.kind === "NoHandlerForState" ? "NoHandlerForState" : "AgentFailed";
  }
}

/** The `AgentError` for the failure of a loop that ended in Error. `reason` is the kind of the failure. */
export function failureToError(failure: AgentFailure, state: AgentState, trace: Trace): AgentError {
  const message =
    failure.kind === "AnswerInvalid" ? answerFailureText(failure.message, state) : failure.message;
  return new AgentError(failureToKind(failure), message, { reason: failure.kind, state, trace });
}
