import type { JsonObject, LlmContent, LlmFile, LlmToolResult } from "@moora/llm";
import {
  commonImages,
  fileToUrl,
  filesOfTurn,
  isJsonObject,
  type NormalizedCall,
  type NormalizedMessage,
  type NormalizedPart,
} from "@moora/llm/adapter";
import { reasoningToItem } from "./item-to-part.ts";

/** Converts a message to items of the Responses API. */
export function messageToItems(message: NormalizedMessage): readonly JsonObject[] {
  if (message.role === "user")
    return [{ type: "message", role: "user", content: message.content.map(contentToInput) }];

  if (message.role === "note")
    return [{ type: "message", role: "developer", content: [{ type: "input_text", text: message.text }] }];

  const isIntact = message.parts.every(isVerifiable);
  const parts = isIntact ? message.parts : message.parts.flatMap(neutralPart);
  const files = isIntact ? [] : filesOfTurn(message.parts);
  const calls = parts.filter((part) => part.type === "tool-call");
  return [...parts.map(partToItem), ...calls.map(callToOutput), ...files.flatMap(messageToItems)];
}

/** Whether the provider can verify a part. It stores nothing, so reasoning without its content is unknown to it. */
const isVerifiable = (part: NormalizedPart): boolean =>
  part.type !== "reasoning" ||
  (isJsonObject(part.raw) &&
    (typeof part.raw["encrypted_content"] === "string" || Array.isArray(part.raw["content"])));

/** Items refer to each other by their ids: if one of them is left out, the others are sent without ids, too. */
const neutralPart = (part: NormalizedPart): readonly NormalizedPart[] => {
  if (part.type === "reasoning" || part.type === "opaque" || part.type === "file") return [];
  const { raw: _raw, ...rest } = part;
  return [rest];
};

function partToItem(part: NormalizedPart): JsonObject {
  const raw = "raw" in part && isJsonObject(part.raw) ? part.raw : {};
  if (part.type === "reasoning") return reasoningToItem(part.text, raw);
  if (part.type === "opaque") return raw;
  if (part.type === "file") return { ...raw, result: "data" in part.file ? part.file.data : null };
  if (part.type === "tool-call") {
    const { id, name, arguments: argumentsText } = part;
    return { ...raw, type: "function_call", call_id: id, name, arguments: argumentsText };
  }
  const { annotations = [], ...rest } = raw;
  // Text without an id of the provider is sent in the short form.
  return "id" in rest
    ? {
        ...rest,
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: part.text, annotations }],
      }
    : { ...rest, type: "message", role: "assistant", content: part.text };
}

function callToOutput({ id, result }: NormalizedCall): JsonObject {
  const text = resultToText(result);
  const files = result.files ?? [];
  return {
    type: "function_call_output",
    call_id: id,
    output: files.length === 0 ? text : [{ type: "input_text", text }, ...files.map(fileToInput)],
  };
}

/** The text of a result. The API has no field for failed results, so the text of one starts with "Error". */
export const resultToText = ({ isError, content }: LlmToolResult): string =>
  isError && !/^error\b/i.test(content) ? `Error: ${content}` : content;

const contentToInput = (piece: LlmContent): JsonObject =>
  piece.type === "text" ? { type: "input_text", text: piece.text } : fileToInput(piece.file);

function fileToInput(file: LlmFile): JsonObject {
  const url = fileToUrl(file);
  if (commonImages.test(file.mediaType)) return { type: "input_image", detail: "auto", image_url: url };
  return "url" in file
    ? { type: "input_file", file_url: url }
    : { type: "input_file", filename: file.name ?? "file.pdf", file_data: url };
}
