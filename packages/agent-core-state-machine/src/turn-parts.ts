import type { TurnPart } from "./state.ts";

/** The ids of the calls among these parts, in their order. */
export function callIdsIn(parts: readonly TurnPart[]): readonly string[] {
  const ids: string[] = [];
  for (const part of parts) if (part.type === "call") ids.push(part.toolCallId);
  return ids;
}

/** The text among these parts, joined as the model wrote it. */
export function textIn(parts: readonly TurnPart[]): string {
  let text = "";
  for (const part of parts) if (part.type === "text") text += part.text;
  return text;
}
