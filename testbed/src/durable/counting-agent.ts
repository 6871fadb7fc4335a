import { answers, callsTools, MockLlmCaller, type ScriptedToolCall } from "@moora/llm/testing";
import type { LlmCaller, LlmOutcome, LlmRequest } from "@moora/llm";
import { defineAgent, type Agent, type AgentConfigChange, type AgentOptions } from "@moora/agent";
import { toolsOf, type World } from "./counting-tools.ts";

/** What a model does: calls, or an outcome, for each of its turns since the user spoke; after that it answers. */
export type Script = readonly (readonly ScriptedToolCall[] | LlmOutcome)[];

export const call = (name: string, of = 1): ScriptedToolCall => ({ name, arguments: { of } });

export const summary = "It looked, and found what it looked for.";

/** What a model says that has nothing left to do. */
export const lastAnswer: LlmOutcome = answers("That is all that I have found out.", {
  usage: { inputTokens: 10, outputTokens: 5 },
});

/** A turn of calls, at its price. */
export const calls = (given: readonly ScriptedToolCall[]): LlmOutcome =>
  callsTools(given, { usage: { inputTokens: 7, outputTokens: 3 } });

/** What a script has for a request, by what is in it alone. */
export function scriptedFor(script: Script, request: LlmRequest): LlmOutcome {
  if (request.purpose === "reflect") return answers(summary);
  const isSummed = JSON.stringify(request.messages).includes(summary);
  const step = isSummed ? undefined : script[turnsIn(request)];
  if (step === undefined) return lastAnswer;
  return "ok" in step ? step : calls(step);
}

/** A model that knows where it is from its request alone, so that it continues in the same way in another process. */
export const scripted = (script: Script): MockLlmCaller =>
  new MockLlmCaller((request) => scriptedFor(script, request));

/** The model's turns since the user spoke last. */
function turnsIn({ messages }: LlmRequest): number {
  const spoken = messages.findLastIndex((message) => message.role === "user");
  return messages.slice(spoken + 1).filter((message) => message.role === "assistant").length;
}

/** What an agent may have beside its model, its tools and its configuration. */
export interface Extras extends Pick<
  AgentOptions,
  "predicates" | "runLimits" | "prices" | "systemPrompt" | "states"
> {
  /** The tools that it has; default: all. */
  readonly tools?: readonly string[];
  /** What is wrong with an answer. */
  readonly answerProblem?: (answer: string) => string | undefined;
}

/** An agent whose tools count what they do. */
export function countingAgent(
  world: World,
  llm: LlmCaller,
  config: AgentConfigChange = {},
  { tools, answerProblem, ...extras }: Extras = {},
): Agent {
  const agent = defineAgent({
    name: "counting",
    llm,
    tools: toolsOf(world, tools),
    config,
    ...extras,
  });
  return answerProblem === undefined ? agent : { ...agent, parts: { ...agent.parts, answerProblem } };
}
