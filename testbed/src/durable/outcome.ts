import { llmRequestAt } from "@moora/agent-core-effects";
import { requestProblems } from "@moora/agent-testing";
import {
  agentTransition,
  isLoopRunning,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import { comparableState } from "../agent-internals.ts";

/** The result of a conversation, apart from messages that a crash cut before they had any text, and from what was learned of counts. */
export function outcomeOf(state: AgentState): unknown {
  const messages = state.messages.filter(({ status, content }) => status !== "cut" || content !== "");
  const { counted: _, ...reActContext } = state.reActContext;
  return comparableState({ ...state, messages, reActContext });
}

/** The conversation if the user spoke now, or stopped what runs and spoke then. */
export function spokenTo(state: AgentState): AgentState {
  const timestamp = state.updatedAt;
  const inputs: readonly AgentInput[] = [
    ...(isLoopRunning(state) ? [{ type: "re-act-cancelled", timestamp } as const] : []),
    { type: "user-message-received", messageId: "and-then", content: "And then?", timestamp },
  ];
  return inputs.reduce((before, input) => agentTransition(input)(before), state);
}

/** What is wrong with the next request; undefined as long as the conversation can continue and may still cost something. */
export function problemsAfter(state: AgentState): readonly string[] {
  const next = spokenTo(state);
  const request = llmRequestAt(next);
  if (request !== undefined) return requestProblems(request);
  const { control } = next.reActContext;
  const isSpent = control.type === "Error" && control.failure.kind === "BudgetExceeded";
  return isSpent ? [] : ["A message leads to no request."];
}
