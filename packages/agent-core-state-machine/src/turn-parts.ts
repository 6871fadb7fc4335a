import type { AgentAttachment } from "@moora/agent-webui-protocol";
import type { TurnPart } from "./state.ts";

/** The ids of the calls in these parts, in order. */
export function callIdsIn(parts: readonly TurnPart[]): readonly string[] {
  const ids: string[] = [];
  for (const part of parts) if (part.type === "call") ids.push(part.toolCallId);
  return ids;
}

/** The files that the model made, in order. */
export const filesIn = (parts: readonly TurnPart[]): readonly AgentAttachment[] =>
  parts.flatMap((part) => (part.type === "file" ? [part.file] : []));

/** The text parts, joined. */
export function textIn(parts: readonly TurnPart[]): string {
  let text = "";
  for (const part of parts) if (part.type === "text") text += part.text;
  return text;
}
