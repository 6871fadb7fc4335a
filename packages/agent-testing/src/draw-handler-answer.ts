import type { AgentEffect } from "@moora/agent-core-effects";
import type { AgentInput, AgentState, Replacement, TraceNote } from "@moora/agent-core-state-machine";
import type { Choose } from "./choose.ts";
import { drawPatches } from "./draw-data.ts";
import { drawText } from "./draw-text.ts";
import { drawToolUsage } from "./draw-usage.ts";
import { oneOf } from "./simulation/choices.ts";

/** Draws a valid or invalid answer of the handler of a custom state. */
export function drawHandlerAnswer(
  state: AgentState,
  { key, name }: Extract<AgentEffect, { type: "run-state" }>,
  choose: Choose,
  timestamp: number,
): AgentInput {
  const { control } = state.reActContext;
  const isStarted = control.type === "Custom" && control.started;
  if (!isStarted && choose(2) === 0) return { type: "state-handler-started", key, timestamp };
  if (isStarted && choose(6) === 0) return { type: "state-handler-interrupted", key, timestamp };
  return {
    type: "state-handled",
    key,
    event: drawEvent(state, name, choose),
    ...(choose(3) === 0 ? { trace: drawTraceNote(choose) } : {}),
    ...drawToolUsage(choose),
    ...(state.dataStatus !== null && choose(2) === 0 ? { patches: drawPatches(state, choose) } : {}),
    ...(choose(6) === 0 ? { replaced: drawReplaced(state, choose) } : {}),
    timestamp,
  };
}

/** Texts in place of some that exist, and of some that do not. */
function drawReplaced(state: AgentState, choose: Choose): readonly Replacement[] {
  const content = drawText(choose);
  const messages = state.messages.map(
    ({ id: messageId }) => ({ type: "message", messageId, content }) as const,
  );
  const results = Object.keys(state.toolCalls).map(
    (toolCallId) => ({ type: "result", toolCallId, content }) as const,
  );
  const none = { type: "result", toolCallId: "none", content } as const;
  return [oneOf<Replacement>(choose, [{ type: "answer", content }, none, ...messages, ...results])];
}

function drawTraceNote(choose: Choose): TraceNote {
  const text = drawText(choose) || "noted";
  return choose(2) === 0 ? { text } : { text, data: { score: choose(100), by: [drawText(choose), null] } };
}

function drawEvent({ config: { graph } }: AgentState, name: string, choose: Choose): string {
  const events = Object.keys(graph.rows[name] ?? {});
  return oneOf(choose, ["Nonsense", "constructor", ...events, ...events, ...events]);
}
