import type { AgentAttachment, AgentState, ContextEntry, ControlOf } from "@moora/agent-core-state-machine";
import {
  callIdsOf,
  hiddenRanges,
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

/** The maximum length of one result in a reflection, in characters. The records keep the whole result. */
const maxResultLength = 8_000;

/** The one message of a reflection: the prompt, the task, and as JSON the part of the history that the summary replaces. */
export function reflectionMessages(
  state: AgentState,
  control: ControlOf<"Reflecting">,
): readonly LlmMessage[] {
  const { since, covers } = control;
  const hidden = hiddenRanges(state, since, transcriptOf(state).length);
  const history = transcriptOf(state)
    .slice(since, covers)
    .flatMap((entry, offset) => (isVisible(entry, since + offset, hidden) ? historyOf(state, entry) : []));
  const lines = history.map((part) => JSON.stringify(part)).join(",\n");
  const text = `${reflectionPrompt}\n\nTask: ${taskAt(state)}\n\nHistory:\n[${lines}]`;
  return [{ role: "user", content: [{ type: "text", text }] }];
}

function historyOf(state: AgentState, entry: ContextEntry): readonly object[] {
  switch (entry.type) {
    case "message":
      return [{ user: messageOf(state, entry.messageId)?.content ?? "" }];
    case "turn": {
      const text = entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      const made = entry.parts.map((part) => (part.type === "file" ? fileText(part.file) : "")).join("");
      const said = (text + made).trim() === "" ? [] : [{ assistant: `${text}${made}` }];
      return [...said, ...callIdsOf(entry).flatMap((id) => callOf(state, id))];
    }
    case "tool-calls":
      return entry.toolCallIds.flatMap((id) => callOf(state, id));
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
function callOf(state: AgentState, id: string): readonly object[] {
  const record = recordOf(state, id);
  if (record === undefined) return [];
  const { observation, parameters, ...call } = memoryCall(id, record);
  const seen = observation === null ? null : truncated(observation, maxResultLength);
  return [{ ...call, parameters: truncated(parameters, maxResultLength), observation: seen }];
}
