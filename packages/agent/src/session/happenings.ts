import type { RunNotice } from "@moora/agent-core-effects";
import type { AgentInput, AgentStep, AgentState, ControlMove } from "@moora/agent-core-state-machine";
import { recordOf } from "@moora/agent-core-state-machine";
import type { AgentEvent } from "../agent-event.ts";

/** What a transition did beside its moves, as events. */
export function stepToEvents(input: AgentInput, { state, changes }: AgentStep): readonly AgentEvent<never>[] {
  const events: AgentEvent<never>[] = [];
  if (input.type === "tool-call-started") {
    const record = recordOf(state, input.toolCallId);
    if (record !== undefined) {
      const { name, parameters } = record;
      events.push({ type: "ToolCallStarted", toolCallId: input.toolCallId, name, parameters });
    }
  }
  for (const change of changes) {
    if (change.op !== "put-call" || change.record.result === null) continue;
    const { name, result } = change.record;
    events.push({ type: "ToolCallFinished", toolCallId: change.id, name, result });
  }
  const due = retryDueAt(state);
  if (input.type === "llm-call-failed" && due !== null) events.push({ type: "LlmRetryScheduled", due });
  return events;
}

export const moveToEvent = ({ to, event, step }: ControlMove): AgentEvent<never> => ({
  type: "StateStarted",
  state: to,
  event,
  step,
});

const retryDueAt = ({ reActContext: { control } }: AgentState): number | null =>
  control.type === "Planning" ? control.retryAt : null;

/** What viewers are told while an effect runs, as an event. */
export function noticeToEvent(notice: RunNotice): AgentEvent<never> {
  switch (notice.type) {
    case "llm-text":
      return { type: "LlmToken", messageId: notice.messageId, text: notice.text };
    case "llm-reasoning":
      return { type: "LlmReasoning", text: notice.text };
    case "llm-tool-call":
      return { type: "LlmToolCall", name: notice.name };
    case "llm-warning":
      return { type: "LlmWarning", text: notice.text };
    case "tool-progress":
      return { type: "ToolCallProgress", toolCallId: notice.toolCallId, text: notice.text };
  }
}
