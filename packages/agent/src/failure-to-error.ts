import { AgentError, type AgentErrorKind } from "@moora/agent-core-effects";
import { refuse, shownValue } from "@moora/agent-core-effects/internal";
import { spentLimitsAt } from "@moora/agent-core-state-machine/internal";
import type { AgentFailure, AgentState, Trace } from "@moora/agent-core-state-machine";
import { answerFailureTexts } from "./answer-failure.ts";
import { checkIsState } from "./check-arguments.ts";
import { isObject } from "./check-options.ts";

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

/**
 * The `AgentError` for the failure of a loop that ended in Error. `reason` is the kind of the failure. Throws
 * `BuildError` for an invalid failure or state.
 */
export function failureToError(failure: AgentFailure, state: AgentState, trace: Trace): AgentError {
  if (!isObject(failure)) refuse(`failure must be the failure of a loop, got ${shownValue(failure)}.`);
  checkIsState(state);
  const { message, ...texts } = textsOf(failure, state);
  return new AgentError(failureToKind(failure), message, {
    reason: failure.kind,
    state,
    trace,
    ...texts,
    ...(failure.source === "model" ? { retryAt: failure.retryAt } : {}),
  });
}

/** The messages of the error. The state keeps the failure as it was recorded; the numbers come from its configuration. */
function textsOf(
  failure: AgentFailure,
  state: AgentState,
): { readonly message: string; readonly publicMessage?: string } {
  const { source, kind, message } = failure;
  if (kind === "AnswerInvalid") return answerFailureTexts(message, state);
  if (source !== "loop") return { message };
  if (kind === "MaxSteps")
    return { message: `${message} limits.maxSteps is ${state.config.limits.maxSteps}.` };
  if (kind === "RepeatedCalls")
    return { message: `${message} limits.maxRepeatedCalls is ${state.config.limits.maxRepeatedCalls ?? 0}.` };
  return { message: kind === "BudgetExceeded" ? budgetText(message, state) : message };
}

/** The message about a budget, with each limit that is reached and what was spent. */
function budgetText(message: string, state: AgentState): string {
  const limits = spentLimitsAt(state).map(({ name, limit, spent }) => {
    const spender = name.startsWith("maxTotal") ? "conversation" : "loop";
    return `budget.${name} is ${limit}, and the ${spender} has used ${amountText(spent)}.`;
  });
  return [message, ...limits].join(" ");
}

/** Sums of costs have rounding errors, which are not shown. */
const amountText = (amount: number): string =>
  Number.isInteger(amount) ? String(amount) : String(Number(amount.toPrecision(6)));
