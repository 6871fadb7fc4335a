import type { JsonObject, LlmRequest } from "@moora/llm";
import { chatProfiles } from "@moora/llm-openai";
import { requestToChat, requestToOpenAi } from "@moora/llm-openai/wire";
import { chatRequestProblem, mistralRules, responsesRequestProblem } from "@moora/llm/testing";
import type { Dialects } from "../laws/request-laws.ts";
import { problemsOf, sentBody, withoutProviderOptions } from "./sent-body.ts";

/** Requests to OpenAI leave out the reasoning of other origins, so that they contain no encrypted content. */
const issued: readonly string[] = [];

/** The rules of OpenAI's two APIs, and of a stricter server of the second one. */
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
