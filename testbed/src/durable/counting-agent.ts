import { answers, callsTools, MockLlmCaller, type ScriptedToolCall } from "@moora/llm/testing";
import type { LlmCaller, LlmOutcome, LlmRequest } from "@moora/llm";
import {
  defineAgent,
  type Agent,
  type AgentConfigChange,
  type AgentOptions,
  type DataDefinition,
} from "@moora/agent";
import { toolsOf, type World } from "./counting-tools.ts";
import { tally } from "./tally.ts";

/** The turns of a model since the last user message: calls, or an outcome, for each; after the last one it answers. */
export type Script = readonly (readonly ScriptedToolCall[] | LlmOutcome)[];

export const call = (name: string, of = 1): ScriptedToolCall => ({ name, arguments: { of } });

export const summary = "It looked, and found what it looked for.";

/** The answer of a model after its script. */
export const lastAnswer: LlmOutcome = answers("That is all that I have found out.", {
  usage: { inputTokens: 10, outputTokens: 5 },
});

/** A turn of calls, at its price. */
export const calls = (given: readonly ScriptedToolCall[]): LlmOutcome =>
  callsTools(given, { usage: { inputTokens: 7, outputTokens: 3 } });

/** The outcome of a script for a request, which depends only on the content of the request. */
export function scriptedFor(script: Script, request: LlmRequest): LlmOutcome {
  if (request.purpose === "reflect") return answers(summary);
  const isSummed = JSON.stringify(request.messages).includes(summary);
  const step = isSummed ? undefined : script[turnsIn(request)];
  if (step === undefined) return lastAnswer;
  return "ok" in step ? step : calls(step);
}

/** A model whose outcome depends only on the request, so that it continues in the same way in another process. */
export const scripted = (script: Script): MockLlmCaller =>
  new MockLlmCaller((request) => scriptedFor(script, request));

/** The number of turns since the last user message. */
function turnsIn({ messages }: LlmRequest): number {
  const spoken = messages.findLastIndex((message) => message.role === "user");
  return messages.slice(spoken + 1).filter((message) => message.role === "assistant").length;
}

/** Further parts of an agent, besides its model, its tools and its configuration. */
export interface Extras extends Pick<
  AgentOptions,
  "predicates" | "runLimits" | "prices" | "systemPrompt" | "states"
> {
  /** The tools that it has; default: all. */
  readonly tools?: readonly string[];
  /** Returns why an answer is invalid; undefined if it is valid. */
  readonly answerProblem?: (answer: string) => string | undefined;
}

/** An agent whose tools count their runs. */
export function countingAgent(
  world: World,
  llm: LlmCaller,
  config: AgentConfigChange = {},
  { tools, answerProblem, ...extras }: Extras = {},
): Agent {
  const made = toolsOf(world, tools);
  const data = made.some(({ data: used }) => used !== undefined) ? { data: tally as DataDefinition } : {};
  const agent = defineAgent({ name: "counting", llm, tools: made, config, ...data, ...extras });
  return answerProblem === undefined ? agent : { ...agent, parts: { ...agent.parts, answerProblem } };
}
