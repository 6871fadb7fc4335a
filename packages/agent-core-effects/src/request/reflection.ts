import {
  defaultAgentConfig,
  type AgentAttachment,
  type AgentState,
  type ContextEntry,
  type ControlOf,
} from "@moora/agent-core-state-machine";
import {
  callIdsOf,
  callIdsOfEntry,
  hiddenRanges,
  inputLimit,
  isVisible,
  memoryCall,
  messageOf,
  recordOf,
  taskAt,
  transcriptOf,
} from "@moora/agent-core-state-machine/internal";
import type { LlmMessage } from "@moora/llm";
import { truncated } from "../truncate.ts";

/** The instruction of a reflection to the model. */
export const reflectionPrompt =
  "Summarize the following tool call history into a single concise paragraph that preserves all key facts, findings, and data needed to continue the task.";

/** The maximum length of one text in a reflection, in characters, and the least that it has. The records keep the whole. */
const maxTextLength = 8_000;
const minTextLength = 200;

/** The length that each text of a history may have, so that all of them together have half of what a request may have. */
function textLimit(
  { config, reActContext: { counted } }: AgentState,
  entries: readonly ContextEntry[],
): number {
  const tokens = inputLimit(config) || defaultAgentConfig.reflection.aboveInputTokens;
  const texts = entries.reduce((sum, entry) => sum + 1 + 2 * callIdsOfEntry(entry).length, 0);
  const characters = (tokens * 2) / (counted?.ratio ?? 1);
  return Math.min(maxTextLength, Math.max(minTextLength, Math.floor(characters / texts)));
}

/** The one message of a reflection: the prompt, the task, and as JSON the part of the history that the summary replaces. */
export function reflectionMessages(
  state: AgentState,
  control: ControlOf<"Reflecting">,
): readonly LlmMessage[] {
  const { since, covers } = control;
  const hidden = hiddenRanges(state, since, transcriptOf(state).length);
  const entries = transcriptOf(state)
    .slice(since, covers)
    .filter((entry, offset) => isVisible(entry, since + offset, hidden));
  const limit = textLimit(state, entries);
  const history = entries.flatMap((entry) => historyOf(state, entry, limit));
  const lines = history.map((part) => JSON.stringify(part)).join(",\n");
  const text = `${reflectionPrompt}\n\nTask: ${taskAt(state)}\n\nHistory:\n[${lines}]`;
  return [{ role: "user", content: [{ type: "text", text }] }];
}

function historyOf(state: AgentState, entry: ContextEntry, limit: number): readonly object[] {
  switch (entry.type) {
    case "message":
      return [{ user: truncated(messageOf(state, entry.messageId)?.content ?? "", limit) }];
    case "turn": {
      const text = entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      const made = entry.parts.map((part) => (part.type === "file" ? fileText(part.file) : "")).join("");
      const said = (text + made).trim() === "" ? [] : [{ assistant: truncated(`${text}${made}`, limit) }];
      return [...said, ...callIdsOf(entry).flatMap((id) => callOf(state, id, limit))];
    }
    case "tool-calls":
      return entry.toolCallIds.flatMap((id) => callOf(state, id, limit));
    case "summary":
      return [{ summary: entry.text }];
    case "note":
    case "handoff":
      return [];
  }
}

const fileText = ({ mediaType, name }: AgentAttachment): string =>
  ` (Made a file: ${name === undefined ? mediaType : `${name} (${mediaType})`}.)`;

/** A call as the memory of the agent has it. */
function callOf(state: AgentState, id: string, limit: number): readonly object[] {
  const record = recordOf(state, id);
  if (record === undefined) return [];
  const { observation, parameters, ...call } = memoryCall(id, record);
  const seen = observation === null ? null : truncated(observation, limit);
  return [{ ...call, parameters: truncated(parameters, limit), observation: seen }];
}
