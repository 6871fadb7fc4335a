import type { AgentAttachment, AgentState, ContextEntry, ControlOf } from "@moora/agent-core-state-machine";
import {
  callIdsOf,
  messageOf,
  observationOf,
  recordOf,
  taskAt,
  transcriptOf,
} from "@moora/agent-core-state-machine/internal";
import type { LlmMessage } from "@moora/llm";
import { hiddenRanges, isVisible } from "./entries.ts";
import { truncated } from "../truncate.ts";

/** The instruction of a reflection to the model. */
export const reflectionPrompt =
  "Summarize the following tool call history into a single concise paragraph that preserves all key facts, findings, and data needed to continue the task.";

/** The maximum length of one result in a reflection, in characters. The records keep the whole result. */
const maxResultLength = 8_000;

/** The one message of a reflection: the prompt, the task, and the part of the history that the summary replaces. */
export function reflectionMessages(
  state: AgentState,
  control: ControlOf<"Reflecting">,
): readonly LlmMessage[] {
  const { since, covers } = control;
  const hidden = hiddenRanges(state, since, covers);
  const lines = transcriptOf(state)
    .slice(since, covers)
    .flatMap((entry, offset) => (isVisible(entry, since + offset, hidden) ? linesOf(state, entry) : []));
  const text = [reflectionPrompt, `Task: ${taskAt(state)}`, "History:", ...lines].join("\n\n");
  return [{ role: "user", content: [{ type: "text", text }] }];
}

function linesOf(state: AgentState, entry: ContextEntry): readonly string[] {
  switch (entry.type) {
    case "message":
      return [`User: ${messageOf(state, entry.messageId)?.content ?? ""}`];
    case "turn": {
      const text = entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      const made = entry.parts.map((part) => (part.type === "file" ? fileText(part.file) : "")).join("");
      const said = (text + made).trim() === "" ? [] : [`Assistant: ${text}${made}`];
      return [...said, ...callIdsOf(entry).map((id) => callLine(state, id))];
    }
    case "tool-calls":
      return entry.toolCallIds.map((id) => callLine(state, id));
    case "summary":
      return [`Earlier summary: ${entry.text}`];
    case "note":
    case "handoff":
      return [];
  }
}

const fileText = ({ mediaType, name }: AgentAttachment): string =>
  ` (Made a file: ${name === undefined ? mediaType : `${name} (${mediaType})`}.)`;

function callLine(state: AgentState, id: string): string {
  const record = recordOf(state, id);
  if (record === undefined) return "";
  const result = record.result === null ? "no result" : observationOf(record.result);
  return `Tool ${record.name}(${truncated(record.parameters, maxResultLength)}): ${truncated(result, maxResultLength)}`;
}
