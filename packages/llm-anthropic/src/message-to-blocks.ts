import type { ContentBlockParam, ToolResultBlockParam } from "@anthropic-ai/sdk/resources/messages";
import type { Json, LlmContent, LlmFile } from "@moora/llm";
import {
  fieldsOf,
  isJsonObject,
  placeholders,
  type Half,
  type NormalizedCall,
  type NormalizedMessage,
  type NormalizedPart,
} from "@moora/llm/adapter";

type Text = Extract<ContentBlockParam, { type: "text" }>;
type VisibleBlock = Text | Extract<ContentBlockParam, { type: "image" | "document" }>;

/** A message whose content is a list of blocks. */
export interface BlockTurn {
  readonly role: "user" | "assistant";
  readonly content: ContentBlockParam[];
}

/**
 * Converts a conversation to alternating messages of user and assistant. All results of a turn are in the user message after
 * it, before the text of the next user message or note. `signs`: whether the server signs its thinking, and refuses any other.
 */
export function messagesToBlocks(messages: readonly NormalizedMessage[], signs: boolean): BlockTurn[] {
  const turns: BlockTurn[] = [];
  const append = (role: BlockTurn["role"], content: ContentBlockParam[]): void => {
    const last = turns.at(-1);
    if (last?.role === role && role === "user") last.content.push(...content);
    else turns.push({ role, content });
  };
  for (const message of messages) {
    if (message.role === "user") append("user", message.content.map(contentToBlock));
    else if (message.role === "note") append("user", [text(`<note>\n${message.text}\n</note>`)]);
    else {
      const content = message.parts.flatMap((part) => partToBlock(part, signs));
      if (content.length === 0) continue;
      if (turns.at(-1)?.role !== "user")
        append("user", [text(turns.length === 0 ? placeholders.first : placeholders.next)]);
      append("assistant", content);
      const calls = message.parts.filter((part) => part.type === "tool-call");
      if (calls.length > 0) append("user", calls.map(callToResult));
    }
  }
  if (turns.at(-1)?.role === "assistant") append("user", [text(placeholders.next)]);
  return turns;
}

/** A block with the call of a tool that the API runs, or with its result. */
export function halfOf(raw: Json): Half | undefined {
  const { id, tool_use_id: idOfCall, type } = isJsonObject(raw) ? raw : {};
  if (typeof idOfCall === "string") return { id: idOfCall, isResult: true };
  const isCall = typeof type === "string" && type.endsWith("_tool_use") && typeof id === "string";
  return isCall ? { id, isResult: false } : undefined;
}

const text = (words: string): Text => ({ type: "text", text: words });

function partToBlock(part: NormalizedPart, signs: boolean): ContentBlockParam[] {
  const raw = "raw" in part && isJsonObject(part.raw) ? fieldsOf(part.raw) : {};
  if (part.type === "text") return [{ ...raw, type: "text", text: part.text }];
  if (part.type === "tool-call")
    return [{ ...raw, type: "tool_use", id: part.id, name: part.name, input: part.input }];

  if (part.type === "opaque") {
    // The block is from the API, and the SDK has no type for all of them.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return "type" in raw ? [raw as unknown as ContentBlockParam] : [];
  }
  // The API makes no files, so no turn of its origin has one.
  if (part.type === "file") return [];
  if (typeof raw["data"] === "string") return [{ ...raw, type: "redacted_thinking", data: raw["data"] }];
  const { signature = "" } = raw;
  if (typeof signature !== "string" || (signature === "" && (signs || part.text === ""))) return [];
  return [{ ...raw, type: "thinking", thinking: part.text, signature }];
}

function callToResult({ id, result }: NormalizedCall): ToolResultBlockParam {
  const { content, isError, files = [] } = result;
  return {
    type: "tool_result",
    tool_use_id: id,
    content: files.length === 0 ? content : [text(content), ...files.map(fileToBlock)],
    ...(isError && { is_error: true }),
  };
}

const contentToBlock = (piece: LlmContent): VisibleBlock =>
  piece.type === "text" ? text(piece.text) : fileToBlock(piece.file);

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

function fileToBlock(file: LlmFile): VisibleBlock {
  const media_type = imageTypes.find((type) => type === file.mediaType);
  if (media_type !== undefined) {
    return {
      type: "image",
      source:
        "url" in file ? { type: "url", url: file.url } : { type: "base64", media_type, data: file.data },
    };
  }
  const { name = "" } = file;
  return {
    type: "document",
    source:
      "url" in file
        ? { type: "url", url: file.url }
        : { type: "base64", media_type: "application/pdf", data: file.data },
    ...(name.trim() !== "" && { title: name }),
  };
}
