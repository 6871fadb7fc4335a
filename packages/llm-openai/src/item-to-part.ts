import type { JsonObject, LlmPart } from "@moora/llm";
import { fieldsOf } from "@moora/llm/adapter";
import type { ResponseOutputItem, ResponseReasoningItem } from "openai/resources/responses/responses";

/** Separates the summaries of a reasoning item in the text of its part. */
export const summarySeparator = "\n\n";

/** Converts an item of a response to a part. `raw` contains the fields that cannot be restored from the part. */
export function itemToPart(item: ResponseOutputItem, nameOf: (wireName: string) => string): LlmPart {
  if (item.type === "message") {
    const texts = item.content.filter((piece) => piece.type === "output_text");
    const annotations = texts.flatMap((piece) => piece.annotations ?? []);
    return {
      type: "text",
      text: texts
        .map((piece) => piece.text)
        .join("")
        .toWellFormed(),
      raw: {
        ...fieldsOf(item, "type", "role", "status", "content"),
        ...(annotations.length > 0 && fieldsOf({ annotations })),
      },
    };
  }
  if (item.type === "reasoning") return reasoningToPart(item);
  if (item.type === "function_call") {
    const raw = fieldsOf(item, "type", "status", "call_id", "name", "arguments");
    return {
      type: "tool-call",
      id: item.call_id ?? "",
      name: nameOf(item.name),
      arguments: item.arguments.trim() === "" ? "{}" : item.arguments.toWellFormed(),
      ...(Object.keys(raw).length > 0 && { raw }),
    };
  }
  if (item.type === "image_generation_call" && typeof item.result === "string") {
    const raw = fieldsOf(item, "result");
    const format = typeof raw["output_format"] === "string" ? raw["output_format"] : "png";
    return { type: "file", file: { mediaType: `image/${format}`, data: item.result }, raw };
  }
  return { type: "opaque", raw: fieldsOf(item) };
}

/** The text of the part is made of the summaries. Their lengths are stored, so that they can be restored. */
function reasoningToPart(item: ResponseReasoningItem): LlmPart {
  const summaries = (item.summary ?? []).map(({ text }) => text.toWellFormed());
  const thoughts = (item.content ?? []).map(({ text }) => text).join(summarySeparator);
  return {
    type: "reasoning",
    text: summaries.length > 0 ? summaries.join(summarySeparator) : thoughts.toWellFormed(),
    raw: { ...fieldsOf(item, "type", "summary"), summary: summaries.map((text) => text.length) },
  };
}

/** Restores the reasoning item of a part. */
export function reasoningToItem(text: string, raw: JsonObject): JsonObject {
  const lengths = Array.isArray(raw["summary"]) ? raw["summary"].map(Number) : [];
  let at = 0;
  const summary = lengths.map((length) => {
    const one = text.slice(at, at + length);
    at += length + summarySeparator.length;
    return { type: "summary_text", text: one };
  });
  return { ...raw, type: "reasoning", summary };
}
