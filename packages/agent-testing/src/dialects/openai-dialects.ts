import type { JsonObject, LlmRequest } from "@moora/llm";
import { chatProfiles } from "@moora/llm-openai";
import { requestToChat, requestToOpenAi } from "@moora/llm-openai/wire";
import { chatRequestProblem, mistralRules, responsesRequestProblem } from "@moora/llm/testing";
import type { Dialects } from "../laws/request-laws.ts";
import { problemsOf, sentBody, withoutProviderOptions } from "./sent-body.ts";

/** The reasoning of other origins is left out of requests to OpenAI: nothing encrypted was ever given out. */
const issued: readonly string[] = [];

/** What OpenAI's two APIs, and a stricter server of the second one, would refuse. */
export const openAiDialects: Dialects = {
  "OpenAI Responses": (request) =>
    problemsOf(responsesRequestProblem(bodyOf(requestToOpenAi, request, "openai"), issued)),
  "OpenAI Chat Completions": (request) =>
    problemsOf(chatRequestProblem(bodyOf(requestToChat, request, "openai"))),
  "Mistral Chat Completions": (request) => {
    const toMistral: ToBody = (given, context) => requestToChat(given, context, chatProfiles.mistral);
    return problemsOf(chatRequestProblem(bodyOf(toMistral, request, "mistral"), mistralRules));
  },
};

type ToBody = (request: LlmRequest, context: { readonly origin: string }) => { readonly body: object };

const bodyOf = (toBody: ToBody, request: LlmRequest, origin: string): JsonObject =>
  sentBody(toBody(withoutProviderOptions(request), { origin }).body);
