import {
  traceOf,
  type AgentFailure,
  type AgentState,
  type AgentUsage,
  type Trace,
} from "@moora/agent-core-state-machine";
import { answerFailureText } from "./answer-failure.ts";

/**
 * What kind of end it was. `AgentFailed`: a limit, a refusal of the graph's own or an answer that never fitted, with the
 * exact word in `reason`. `LlmError`: the model, with its failure kind in `reason`. The others say it themselves.
 */
export type AgentErrorKind =
  | "AgentFailed"
  | "InvalidTransition"
  | "NoHandlerForState"
  | "SafetyCapExceeded"
  | "LlmError"
  | "ToolError"
  | "MemoryError"
  | "BuildError"
  | "Cancelled"
  | "LogCorrupt"
  | "Conflict";

/** Where the agent stood when it ended: nothing that was done is lost with the error. */
export interface AgentErrorDetails {
  readonly reason?: string;
  readonly state?: AgentState;
  readonly trace?: Trace;
  readonly cause?: unknown;
}

export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly kind: AgentErrorKind;
  /** The exact word: `MaxSteps`, `rate-limit`, an input's problem. */
  readonly reason: string;
  readonly state: AgentState | undefined;
  readonly usage: AgentUsage | undefined;
  readonly trace: Trace;

  constructor(kind: AgentErrorKind, message: string, details: AgentErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.kind = kind;
    this.reason = details.reason ?? kind;
    this.state = details.state;
    this.usage = details.state?.usage;
    this.trace = details.trace ?? traceOf([]);
  }
}

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
