import type { LlmMessage, LlmRequest } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import { hasIllFormedText } from "@moora/llm/testing";

/**
 * The problems of a request by the rules that all providers share, one sentence for each; empty for a valid request. The
 * first message is the user's, the last one is not the assistant's; each call has one result; ids are unique; no text is
 * blank; arguments are a JSON object; every string is well-formed.
 */
export function requestProblems(request: LlmRequest): readonly string[] {
  const { messages } = request;
  const ids = messages.flatMap(callIdsOf);
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  return [
    ...(messages.length === 0 ? ["There are no messages."] : []),
    ...(messages[0]?.role === "assistant" ? ["The first message is the assistant's."] : []),
    ...(isOpenTurn(messages.at(-1)) ? ["The last message is an answer of the assistant's."] : []),
    ...(repeated === undefined ? [] : [`The call id ${repeated} is used twice.`]),
    ...messages.flatMap((message, index) =>
      messageProblems(message).map((problem) => `Message ${index}: ${problem}`),
    ),
    ...messages.flatMap((message, index) =>
      isOpenTurn(message) && messages[index + 1]?.role === "assistant"
        ? [`Two answers follow each other at ${index}.`]
        : [],
    ),
    ...(hasIllFormedText(request) ? ["A string is ill-formed."] : []),
  ];
}

const callIdsOf = (message: LlmMessage): readonly string[] =>
  message.role === "assistant"
    ? message.turn.parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))
    : [];

const isOpenTurn = (message: LlmMessage | undefined): boolean =>
  message?.role === "assistant" && message.results.length === 0;

function messageProblems(message: LlmMessage): readonly string[] {
  switch (message.role) {
    case "note":
      return isBlank(message.text) ? ["a blank note"] : [];
    case "user":
      return message.content.length === 0 ||
        message.content.some((content) => content.type === "text" && isBlank(content.text))
        ? ["a blank user message"]
        : [];
    case "assistant":
      return turnProblems(message);
  }
}

function turnProblems({
  turn: { parts },
  results,
}: Extract<LlmMessage, { role: "assistant" }>): readonly string[] {
  const calls = parts.filter((part) => part.type === "tool-call");
  const spoken = parts.filter((part) => part.type === "text");
  const files = parts.filter((part) => part.type === "file");
  return [
    ...(calls.length + spoken.length + files.length === 0 ? ["a turn without text, files and calls"] : []),
    ...(calls.length === results.length ? [] : [`${calls.length} calls with ${results.length} results`]),
    ...(spoken.some((part) => isBlank(part.text)) ? ["a blank text in a turn"] : []),
    ...(parts.at(-1)?.type === "reasoning" ? ["a turn that ends in reasoning"] : []),
    ...(calls.every((part) => isJsonObject(textToJson(part.arguments)))
      ? []
      : ["arguments that are not a JSON object"]),
    ...(results.some((result) => isBlank(result.content)) ? ["a blank result"] : []),
  ];
}

const isBlank = (text: string): boolean => text.trim() === "";
