import { AgentError, type AgentErrorKind } from "@moora/agent-core-effects";
import type { AgentFailure, AgentState, Trace } from "@moora/agent-core-state-machine";
import { answerFailureText } from "./answer-failure.ts";

const ownKinds: Readonly<Record<string, AgentErrorKind>> = {
  InvalidTransition: "InvalidTransition",
  SafetyCapExceeded: "SafetyCapExceeded",
  Cancelled: "Cancelled",
};

/** Failures of the loop itself, by the events and limits that the reducer names; any other small word is a model's. */
const kindOf = ({ kind, event }: AgentFailure): AgentErrorKind => {
  if (event === "NoHandlerForState") return "NoHandlerForState";
  const own = Object.hasOwn(ownKinds, kind) ? ownKinds[kind] : undefined;
  if (own !== undefined) return own;
  return /^[a-z]/.test(kind) ? "LlmError" : "AgentFailed";
};

/** The error that a loop which ended in Error is for its host. */
export function failureToError(failure: AgentFailure, state: AgentState, trace: Trace): AgentError {
  const message =
    failure.kind === "AnswerInvalid" ? answerFailureText(failure.message, state) : failure.message;
  return new AgentError(kindOf(failure), message, { reason: failure.kind, state, trace });
}
