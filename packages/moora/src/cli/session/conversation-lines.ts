import type { AgentState } from "@moora/agent";
import { fileText } from "@moora/agent/internal";
import { failureText, type ToolCallResult } from "@moora/agent-core-state-machine";
import { recordOf } from "@moora/agent-core-state-machine/internal";

/** The content of a session, in order: messages, calls with their results, and the failure at the end, if any. */
export function conversationLines(state: AgentState): readonly string[] {
  const messages = new Map(state.messages.map((message) => [message.id, message]));
  const { control, queued } = state.reActContext;
  const lines = [...state.transcript, ...queued].flatMap((entry): readonly string[] => {
    switch (entry.type) {
      case "message": {
        const message = messages.get(entry.messageId);
        if (message === undefined) return [];
        const files = (message.attachments ?? []).map((file) => `${message.role}: ${fileText(file)}`);
        return message.content === "" ? files : [`${message.role}: ${message.content}`, ...files];
      }
      case "turn":
        return entry.parts.flatMap((part) => {
          if (part.type === "text") return part.text.trim() === "" ? [] : [`assistant: ${part.text}`];
          if (part.type === "file") return [`assistant: ${fileText(part.file)}`];
          return part.type === "call" ? callLines(state, part.toolCallId) : [];
        });
      case "handoff":
        return [`handoff: from ${entry.from} to ${entry.to}`];
      case "tool-calls":
      case "note":
      case "summary":
        return [];
    }
  });
  return control.type === "Error" ? [...lines, `failed: ${control.failure.message}`] : lines;
}

function callLines(state: AgentState, id: string): readonly string[] {
  const record = recordOf(state, id);
  if (record === undefined) return [];
  const { name, parameters, result, decision } = record;
  return [
    `call ${id}: ${name} ${parameters}`,
    ...(decision === undefined ? [] : [`call ${id}: ${decision.type} by ${decision.by}`]),
    ...(result === null ? [] : [`call ${id}: ${resultText(result)}`]),
  ];
}

const resultText = (result: ToolCallResult): string =>
  result.isSuccess ? `returned ${result.content}` : `failed: ${failureText(result)}`;
