import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { Json, LlmContent, LlmFile, LlmToolResult } from "@moora/llm";
import {
  isJsonObject,
  placeholders,
  type Half,
  type NormalizedCall,
  type NormalizedMessage,
  type NormalizedPart,
} from "@moora/llm/adapter";
import type { ProviderTraits } from "./provider-traits.ts";

type UserContent = Extract<LanguageModelV4Message, { role: "user" }>["content"];
type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/** What a provider accepts. */
export interface PromptContext {
  readonly traits: ProviderTraits;
  /** Whether calls and their results are texts. */
  readonly callsAsText: boolean;
}

/**
 * Converts a conversation to a prompt in which users and assistants alternate, which every provider accepts: neighboring user
 * messages and notes are merged, and placeholders are added where a user message is missing.
 */
export function messagesToPrompt(
  messages: readonly NormalizedMessage[],
  context: PromptContext,
): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = [];
  const appendUser = (content: UserContent): void => {
    const last = prompt.at(-1);
    if (last?.role === "user") return void last.content.push(...content);
    if (last?.role === "tool" && !context.traits.userAfterResults)
      prompt.push({ role: "assistant", content: [text("I have the results.")] });
    prompt.push({ role: "user", content });
  };
  for (const message of messages) {
    if (message.role === "user") appendUser(message.content.map(contentToPart));
    else if (message.role === "note") appendUser([text(`<note>\n${message.text}\n</note>`)]);
    else {
      const content = message.parts.flatMap((part) => partToContent(part, context));
      if (content.length === 0) continue;
      if (prompt.length === 0) appendUser([text(placeholders.first)]);
      if (prompt.at(-1)?.role === "assistant") appendUser([text(placeholders.next)]);
      prompt.push({ role: "assistant", content });
      appendResults(message.parts, prompt, appendUser, context);
    }
  }
  if (prompt.at(-1)?.role === "assistant") appendUser([text(placeholders.next)]);
  return prompt;
}

/** A part with the call of a tool that the provider runs, or with its result. */
export function halfOf(raw: Json): Half | undefined {
  const { toolCallId: id, type } = isJsonObject(raw) ? raw : {};
  return typeof id === "string" ? { id, isResult: type === "tool-result" } : undefined;
}

const text = (words: string): { type: "text"; text: string } => ({ type: "text", text: words });

/** The results of a turn, in one message. Files that a result cannot contain follow in a user message. */
function appendResults(
  parts: readonly NormalizedPart[],
  prompt: LanguageModelV4Message[],
  appendUser: (content: UserContent) => void,
  context: PromptContext,
): void {
  const calls = parts.filter((part) => part.type === "tool-call");
  if (calls.length === 0) return;
  if (context.callsAsText) {
    return appendUser(
      calls.flatMap(({ name, result }) => [
        text(`(Result of ${name})\n${resultText(result)}`),
        ...(result.files ?? []).map(fileToPart),
      ]),
    );
  }
  prompt.push({ role: "tool", content: calls.map((call) => callToResult(call, context)) });
  const files = calls
    .filter(({ result }) => !holdsFiles(result, context))
    .flatMap(({ result }) => result.files ?? []);
  if (files.length > 0) appendUser([text("Files of the results above:"), ...files.map(fileToPart)]);
}

/**
 * The parts of a turn. Opaque parts are parts of a prompt already: the reader of an answer stores them in that form, which no
 * type of JSON describes.
 */
function partToContent(part: NormalizedPart, { callsAsText }: PromptContext): AssistantContent {
  const raw = "raw" in part ? optionsOf(part.raw) : {};
  switch (part.type) {
    case "text":
      return [{ ...text(part.text), ...raw }];
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...raw }];
    case "tool-call":
      if (callsAsText) return [text(`(Called ${part.name} with ${part.arguments})`)];
      return [{ type: "tool-call", toolCallId: part.id, toolName: part.name, input: part.input, ...raw }];
    case "file":
      return [{ type: "file", mediaType: part.file.mediaType, data: dataOf(part.file), ...raw }];
    case "opaque":
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return isJsonObject(part.raw) ? [part.raw as unknown as AssistantContent[number]] : [];
  }
}

const dataOf = (file: LlmFile): LanguageModelV4FilePart["data"] =>
  "url" in file ? { type: "url", url: new URL(file.url) } : { type: "data", data: file.data };

/** The provider's own form of a part: the metadata that it sent with the part. */
function optionsOf(raw: Json | undefined): { readonly providerOptions?: SharedV4ProviderOptions } {
  if (!isJsonObject(raw) || Object.keys(raw).length === 0) return {};
  // Metadata has one object of JSON for each provider, and was checked when the answer was read.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { providerOptions: raw as SharedV4ProviderOptions };
}

function callToResult(
  { id, name, result }: NormalizedCall,
  context: PromptContext,
): LanguageModelV4ToolResultPart {
  return { type: "tool-result", toolCallId: id, toolName: name, output: resultToOutput(result, context) };
}

/** Whether the files of a result are inside it. A failed result is text. */
const holdsFiles = ({ isError }: LlmToolResult, { traits }: PromptContext): boolean =>
  traits.filesInResults && !isError;

function resultToOutput(result: LlmToolResult, context: PromptContext): LanguageModelV4ToolResultOutput {
  const value = resultText(result);
  if (result.isError) return { type: "error-text", value };
  const files = holdsFiles(result, context) ? (result.files ?? []) : [];
  return files.length === 0
    ? { type: "text", value }
    : { type: "content", value: [text(value), ...files.map(fileToPart)] };
}

/** Not every provider marks failed results, so the text of one starts with "Error". */
const resultText = ({ isError, content }: LlmToolResult): string =>
  isError && !/^error\b/i.test(content) ? `Error: ${content}` : content;

const contentToPart = (piece: LlmContent): UserContent[number] =>
  piece.type === "text" ? text(piece.text) : fileToPart(piece.file);

const fileToPart = (file: LlmFile): LanguageModelV4FilePart => ({
  type: "file",
  mediaType: file.mediaType,
  ...(file.name !== undefined && { filename: file.name }),
  data: dataOf(file),
});

/** Whether the provider reads a URL itself. The types of its list may be `*`, `image/*` or `image/png`. */
export const readsUrl = (
  url: string,
  mediaType: string,
  supported: Readonly<Record<string, readonly RegExp[]>>,
): boolean =>
  URL.canParse(url) &&
  Object.entries(supported).some(
    ([type, patterns]) =>
      (type === "*" || type.split("/", 1).join("") === "*" || matchesType(mediaType, type)) &&
      patterns.some((pattern) => pattern.test(url)),
  );

const matchesType = (mediaType: string, type: string): boolean =>
  type.endsWith("/*") ? mediaType.startsWith(type.slice(0, -1)) : mediaType === type;
