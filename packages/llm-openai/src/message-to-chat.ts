import type { LlmContent, LlmFile } from "@moora/llm";
import {
  commonImages,
  fileToUrl,
  isJsonObject,
  type NormalizedCall,
  type NormalizedMessage,
  type NormalizedPart,
} from "@moora/llm/adapter";
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type { ChatProfile } from "./chat-profile.ts";
import { resultToText } from "./message-to-items.ts";
import { detailsField } from "./reasoning-details.ts";

/** Converts a message to messages of Chat Completions, with the roles of a server's profile. */
export function messageToChat(
  message: NormalizedMessage,
  profile: ChatProfile,
): readonly ChatCompletionMessageParam[] {
  if (message.role === "user") return [userToChat(message.content)];
  if (message.role === "note") return [{ role: profile.noteRole, content: message.text }];
  const calls = message.parts.filter((part) => part.type === "tool-call");
  const files = calls.flatMap(({ result }) => result.files ?? []);
  return [
    turnToChat(message.parts, calls, profile),
    ...calls.map(
      ({ id, result }) => ({ role: "tool", tool_call_id: id, content: resultToText(result) }) as const,
    ),
    // A tool message contains text only, so the files of results follow in a user message.
    ...(files.length === 0
      ? []
      : [userToChat([{ type: "text", text: "Files of the results above:" }, ...files.map(fileToContent)])]),
  ];
}

const fileToContent = (file: LlmFile): LlmContent => ({ type: "file", file });

function turnToChat(
  parts: readonly NormalizedPart[],
  calls: readonly NormalizedCall[],
  profile: ChatProfile,
): ChatCompletionAssistantMessageParam {
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const reasoning = parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])).join("");
  const { reasoningField } = profile;
  return {
    role: "assistant",
    content: text === "" ? null : text,
    ...(calls.length > 0 && { tool_calls: calls.map(callToChat) }),
    ...(reasoningField !== undefined && reasoning !== "" && { [reasoningField]: reasoning }),
    ...detailsField(parts.flatMap((part) => (part.type === "reasoning" ? [part.raw] : []))),
  };
}

const callToChat = ({
  id,
  name,
  arguments: argumentsText,
  raw,
}: NormalizedCall): ChatCompletionMessageFunctionToolCall => ({
  ...(isJsonObject(raw) ? raw : {}),
  id,
  type: "function",
  function: { name, arguments: argumentsText },
});

function userToChat(content: readonly LlmContent[]): ChatCompletionMessageParam {
  const parts = content.map(contentToPart);
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { role: "user", content: texts.length === parts.length ? texts.join("\n\n") : parts };
}

function contentToPart(piece: LlmContent): ChatCompletionContentPart {
  if (piece.type === "text") return piece;
  const { file } = piece;
  const url = fileToUrl(file);
  return commonImages.test(file.mediaType)
    ? { type: "image_url", image_url: { url } }
    : { type: "file", file: { filename: file.name ?? "file.pdf", file_data: url } };
}
