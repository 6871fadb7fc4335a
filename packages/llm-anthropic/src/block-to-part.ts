import type { JsonObject, LlmPart } from "@moora/llm";
import { fieldsOf, isJsonObject } from "@moora/llm/adapter";

/** A complete block: the fields of the API, and the JSON text of a tool call's input. */
export interface CompleteBlock {
  readonly block: JsonObject;
  readonly inputText: string;
}

/** Converts a block of an answer to a part. `raw` contains the fields that cannot be restored from the part. */
export function blockToPart(
  { block, inputText }: CompleteBlock,
  nameOf: (wireName: string) => string,
): LlmPart {
  const { type } = block;
  if (type === "text") {
    const raw = fieldsOf(block, "type", "text");
    return { type, text: textIn(block, "text"), ...(hasInformation(raw) && { raw }) };
  }
  if (type === "thinking")
    return { type: "reasoning", text: textIn(block, "thinking"), raw: fieldsOf(block, "type", "thinking") };

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

/** Leaves out the field `caller` if the model itself is the caller, which is the default. */
const directCaller = ({ caller }: JsonObject): readonly string[] =>
  isJsonObject(caller) && caller["type"] === "direct" ? ["caller"] : [];

/** Whether any field is neither null nor an empty list. */
const hasInformation = (raw: JsonObject): boolean =>
  Object.values(raw).some((field) => field !== null && !(Array.isArray(field) && field.length === 0));
