/** What each provider would answer with 400, by the rules that the adapters' own tests hold them to. */
import type { Dialects } from "@moora/agent-testing";
import type { JsonObject, LlmRequest } from "@moora/llm";
import { requestToAnthropic } from "@moora/llm-anthropic/wire";
import { chatProfiles } from "@moora/llm-openai";
import { requestToChat, requestToOpenAi } from "@moora/llm-openai/wire";
import { signatureOf, whyNotMessages } from "../../packages/llm-anthropic/test/support/messages-rules.ts";
import { mistralStrictness, whyNotChat } from "../../packages/llm-openai/test/support/chat-rules.ts";
import { whyNotResponses } from "../../packages/llm-openai/test/support/responses-rules.ts";

const sent = (body: object): JsonObject => JSON.parse(JSON.stringify(body));
const complaints = (problem: string | undefined): readonly string[] =>
  problem === undefined ? [] : [problem];
const withModel = (request: LlmRequest): LlmRequest => ({ ...request, model: "some-model" });

const signaturesIn = ({ messages }: LlmRequest): readonly string[] =>
  messages.flatMap((message) =>
    message.role === "assistant"
      ? message.turn.parts.flatMap((part) => (part.type === "reasoning" ? [signatureOf(part.text)] : []))
      : [],
  );

/** A drawn model does not know how Anthropic signs: its reasoning gets the signatures that would be on it. */
const signed = (request: LlmRequest): LlmRequest => ({
  ...request,
  messages: request.messages.map((message) =>
    message.role === "assistant"
      ? {
          ...message,
          turn: {
            ...message.turn,
            parts: message.turn.parts.map((part) =>
              part.type === "reasoning" ? { ...part, raw: { signature: signatureOf(part.text) } } : part,
            ),
          },
        }
      : message,
  ),
});

/**
 * Requests as four kinds of servers get them. `origin` is whose turns the drawn ones are: Anthropic gets its own
 * reasoning back, the others see turns of a stranger.
 */
export const dialectsFor = (origin: string): Dialects => ({
  "OpenAI's Responses API": (request) =>
    complaints(whyNotResponses(sent(requestToOpenAi(withModel(request), { origin: "openai" }).body), [])),
  "OpenAI's Chat Completions": (request) =>
    complaints(whyNotChat(sent(requestToChat(withModel(request), { origin: "openai" }).body))),
  "Mistral's Chat Completions": (request) =>
    complaints(
      whyNotChat(
        sent(requestToChat(withModel(request), { origin: "mistral" }, chatProfiles.mistral).body),
        mistralStrictness,
      ),
    ),
  "Anthropic's Messages API": (request) => {
    const { body } = requestToAnthropic(signed(withModel(request)), { origin });
    return complaints(whyNotMessages(sent(body), signaturesIn(request)));
  },
});
