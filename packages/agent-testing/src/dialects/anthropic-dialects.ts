import type { LlmPart, LlmRequest } from "@moora/llm";
import { requestToAnthropic } from "@moora/llm-anthropic/wire";
import { messagesRequestProblem, signatureOf } from "@moora/llm/testing";
import type { Dialects } from "../laws/request-laws.ts";
import { problemsOf, sentBody, withoutProviderOptions } from "./sent-body.ts";

/** The rules of Anthropic's API. `origin` names the turns whose reasoning was made by the API and is sent back to it. */
export const anthropicDialects = (origin: string): Dialects => ({
  "Anthropic Messages": (request) => {
    const { body } = requestToAnthropic(withSignatures(withoutProviderOptions(request)), { origin });
    return problemsOf(messagesRequestProblem(sentBody(body), signaturesIn(request)));
  },
});

/** Adds valid signatures to the reasoning of a simulated model. */
const withSignatures = (request: LlmRequest): LlmRequest => ({
  ...request,
  messages: request.messages.map((message) =>
    message.role === "assistant"
      ? { ...message, turn: { ...message.turn, parts: message.turn.parts.map(signedPart) } }
      : message,
  ),
});

const signedPart = (part: LlmPart): LlmPart =>
  part.type === "reasoning" ? { ...part, raw: { signature: signatureOf(part.text) } } : part;

const signaturesIn = ({ messages }: LlmRequest): readonly string[] =>
  messages.flatMap((message) =>
    message.role === "assistant"
      ? message.turn.parts.flatMap((part) => (part.type === "reasoning" ? [signatureOf(part.text)] : []))
      : [],
  );
