/**
 * The rules of four kinds of servers, for `simulate` and the laws: the requests that a server would answer with
 * 400. Requires `@moora/llm-openai` and `@moora/llm-anthropic`, whose conversions it checks.
 */
import { anthropicDialects } from "./dialects/anthropic-dialects.ts";
import { openAiDialects } from "./dialects/openai-dialects.ts";
import { simulatedOrigin, type Dialects } from "./laws/request-laws.ts";

/**
 * OpenAI's Responses API and Chat Completions, Mistral's Chat Completions, and Anthropic's Messages API. `origin` names
 * the turns whose reasoning Anthropic gets back as its own; default: those of a simulated model.
 */
export const providerDialects = (origin: string = simulatedOrigin): Dialects => ({
  ...openAiDialects,
  ...anthropicDialects(origin),
});
