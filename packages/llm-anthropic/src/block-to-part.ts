import type { JsonObject, LlmPart } from "@moora/llm";
import { fieldsOf, isJsonObject } from "@moora/llm/adapter";

/** A block that is whole: its fields as the API has them, and the text of its input where it had one. */
export interface CompleteBlock {
  readonly block: JsonObject;
  readonly inputText: string;
}

/** A block of an answer as a part; `raw` keeps what cannot be rebuilt from the part. */
export function blockToPart(
  { block, inputText }: CompleteBlock,
  nameOf: (wireName: string) => string,
): LlmPart {
  const { type } = block;
  if (type === "text") {
    const raw = fieldsOf(block, "type", "text");
    return { type, text: textIn(block, "text"), ...(hasInformation(raw) && { raw }) };
  }
  if (type === "thinking") {
    return { type: "reasoning", text: textIn(block, "thinking"), raw: fieldsOf(block, "type", "thinking") };
  }
  if (type === "redacted_thinking") return { type: "reasoning", text: "", raw: fieldsOf(block, "type") };
  if (type !== "tool_use") return { type: "opaque", raw: block };
  const raw = fieldsOf(block, "type", "id", "name", "input", ...directCaller(block));
  return {
    type: "tool-call",
    id: textIn(block, "id"),
    name: nameOf(textIn(block, "name")),
    arguments: inputText.trim() === "" ? JSON.stringify(block["input"] ?? {}) : inputText.toWellFormed(),
    ...(hasInformation(raw) && { raw }),
  };
}

const textIn = (block: JsonObject, name: string): string => {
  const text = block[name];
  return typeof text === "string" ? text.toWellFormed() : "";
};

/** That the model itself made a call is what is assumed anyway. */
const directCaller = ({ caller }: JsonObject): readonly string[] =>
  isJsonObject(caller) && caller["type"] === "direct" ? ["caller"] : [];

/** Fields that are null, or empty lists, say nothing. */
const hasInformation = (raw: JsonObject): boolean =>
  Object.values(raw).some((field) => field !== null && !(Array.isArray(field) && field.length === 0));
