import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Json, LlmPart } from "@moora/llm";
import { fieldsOf, textToJson } from "@moora/llm/adapter";

type PartOf<Type extends LanguageModelV4StreamPart["type"]> = Extract<
  LanguageModelV4StreamPart,
  { readonly type: Type }
>;

type OpaqueSource = PartOf<"custom" | "file" | "reasoning-file" | "tool-call" | "tool-result">;

/**
 * Converts a part for which the port has no type to an opaque part: tools that the provider ran itself, files and the
 * provider's own kinds of content. `raw` is the part of a prompt that sends it back.
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
    case "file":
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

function dataOf(data: PartOf<"file">["data"]): Json {
  if (data.type === "url") return { type: "url", url: data.url.href };
  return { type: "data", data: typeof data.data === "string" ? data.data : bytesToBase64(data.data) };
}

const bytesToBase64 = (bytes: Uint8Array): string =>
  btoa(bytes.reduce((binary, byte) => binary + String.fromCharCode(byte), ""));
