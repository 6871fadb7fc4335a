import { llmRequestAt } from "@moora/agent-core-effects";
import { requestProblems } from "@moora/agent-testing";
import { agentTransition, type AgentState } from "@moora/agent-core-state-machine";
import type { LlmRequest } from "@moora/llm";
import { stateEssence } from "../../../src/time-travel/bookkeeping.ts";

/** What a conversation came to, apart from messages that a crash cut before they had any text. */
export function outcomeOf(state: AgentState): unknown {
  const messages = state.messages.filter(({ status, content }) => status !== "cut" || content !== "");
  return stateEssence({ ...state, messages });
}

/** The request that the model would get if the user spoke now. */
export function requestAfter(state: AgentState): LlmRequest {
  const asked = agentTransition({
    type: "user-message-received",
    messageId: "and-then",
    content: "And then?",
    timestamp: state.updatedAt,
  })(state);
  const request = llmRequestAt(asked);
  if (request === undefined) throw new Error("A message leads to no request.");
  return request;
}

/** What is wrong with that request; nothing, as long as the conversation can go on. */
export const problemsAfter = (state: AgentState): readonly string[] => requestProblems(requestAfter(state));
