import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Json, LlmFile, LlmPart } from "@moora/llm";
import { fieldsOf, textToJson } from "@moora/llm/adapter";

type PartOf<Type extends LanguageModelV4StreamPart["type"]> = Extract<
  LanguageModelV4StreamPart,
  { readonly type: Type }
>;

type OpaqueSource = PartOf<"custom" | "reasoning-file" | "tool-call" | "tool-result">;

/**
 * Converts a part for which the port has no type to an opaque part: tools that the provider ran itself, files of its reasoning
 * and the provider's own kinds of content. `raw` is the part of a prompt that sends it back.
 */
export function partToOpaque(part: OpaqueSource): LlmPart {
  const { providerMetadata } = part;
  const raw = { ...contentOf(part), ...(providerMetadata && { providerOptions: providerMetadata }) };
  return { type: "opaque", raw: fieldsOf(raw) };
}

// The compiler knows that the switch is exhaustive (noImplicitReturns), this rule does not.
// oxlint-disable-next-line typescript/consistent-return
function contentOf(part: OpaqueSource): object {
  switch (part.type) {
    case "custom":
      return { type: part.type, kind: part.kind };
    case "reasoning-file":
      return { type: part.type, mediaType: part.mediaType, data: dataOf(part.data) };
    case "tool-call":
      return {
        type: part.type,
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        input: textToJson(part.input) ?? part.input,
        providerExecuted: true,
      };
    case "tool-result":
      return {
        type: part.type,
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        output: { type: part.isError === true ? "error-json" : "json", value: part.result },
      };
  }
}

/** Converts a file that the model made. `raw` is the metadata that the provider expects back with the file. */
export const fileToPart = ({ mediaType, data, providerMetadata }: PartOf<"file">): LlmPart => {
  const file: LlmFile =
    data.type === "url" ? { mediaType, url: data.url.href } : { mediaType, data: toBase64(data.data) };
  return { type: "file", file, raw: fieldsOf(providerMetadata ?? {}) };
};

function dataOf(data: PartOf<"file">["data"]): Json {
  if (data.type === "url") return { type: "url", url: data.url.href };
  return { type: "data", data: toBase64(data.data) };
}

const toBase64 = (data: string | Uint8Array): string =>
  typeof data === "string" ? data : bytesToBase64(data);

const bytesToBase64 = (bytes: Uint8Array): string =>
  btoa(bytes.reduce((binary, byte) => binary + String.fromCharCode(byte), ""));
