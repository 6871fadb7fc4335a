import { effectsAt } from "@moora/agent-core-effects";
import { isPaused, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { drawConfigChange, drawTools } from "./draw-config.ts";
import { drawDataChange } from "./draw-data.ts";
import type { Choose } from "./choose.ts";
import { drawAnswer, success } from "./draw-effect-answer.ts";
import { drawAgent } from "./draw-handoff.ts";
import { drawText } from "./draw-text.ts";
import { drawUsage } from "./draw-usage.ts";
import { oneOf } from "./simulation/choices.ts";

/**
 * Draws an input for a state: usually a valid or invalid answer to a wanted effect, otherwise an input of a person or a
 * host, or a repeated input. Uniformly random inputs would rarely get past the first wait.
 */
export function drawInput(state: AgentState, past: readonly AgentInput[], choose: Choose): AgentInput {
  const effects = Object.values(effectsAt(state));
  const effect = effects[choose(Math.max(effects.length, 1))];
  const dice = choose(20);
  if (dice < 14 && effect !== undefined) return drawAnswer(state, effect, choose);
  if (dice < 16 && past.length > 0) return oneOf(choose, [lastOf(past), ...past]);
  // A paused session wants little: it is resumed soon, so that most inputs meet work.
  if (isPaused(state) && choose(4) === 0) return { type: "session-resumed", timestamp: state.updatedAt };
  if (effect === undefined && dice < 17) return message(state, choose);
  return drawFromOutside(state, choose);
}

const lastOf = (past: readonly AgentInput[]): AgentInput =>
  past.at(-1) ?? { type: "re-act-cancelled", timestamp: 0 };

function drawFromOutside(state: AgentState, choose: Choose): AgentInput {
  const timestamp = state.updatedAt;
  const calls = Object.keys(state.toolCalls);
  return oneOf<() => AgentInput>(choose, [
    () => message(state, choose),
    () => message(state, choose),
    () => ({
      type: "re-act-cancelled",
      ...(choose(2) === 0 ? { partial: drawText(choose) } : {}),
      timestamp,
    }),
    () => ({ type: "loop-retried", timestamp }),
    () => ({
      type: "session-paused",
      ...(choose(2) === 0 ? { reason: drawText(choose) } : {}),
      timestamp,
    }),
    () => ({ type: "session-resumed", timestamp }),
    () => ({
      type: "session-opened",
      owner: oneOf(choose, ["a", "b"]),
      ...(choose(2) === 0 ? { reportsUsage: true } : {}),
      timestamp,
    }),
    () => ({
      type: "usage-reported",
      key: oneOf(choose, ["tool/none/1/1", ...state.unreportedUsage, ...state.unreportedUsage]),
      usage: drawUsage(choose),
      timestamp,
    }),
    () => ({ type: "agent-configured", config: drawConfigChange(choose), timestamp }),
    () => ({ type: "agent-configured", tools: drawTools(choose), timestamp }),
    () => ({ type: "agent-configured", activeAgent: drawAgent(choose), timestamp }),
    () => ({ type: "context-window-expanded", timestamp }),
    () => ({
      type: "tools-found",
      names: [oneOf(choose, [...Object.keys(state.tools), "none", "__proto__"])],
      timestamp,
    }),
    () => ({ type: "context-note-added", text: drawText(choose), timestamp }),
    () => drawDataChange(state, choose),
    () => ({
      type: "history-tool-calls-added",
      toolCallIds: [calls[choose(calls.length + 1)] ?? "none"],
      timestamp,
    }),
    () => ({
      type: "tool-call-completed",
      toolCallId: oneOf(choose, ["call_99", "__proto__", "constructor"]),
      result: success(choose, timestamp),
      timestamp,
    }),
    () => ({ type: "deadline-passed", key: "wait/plan/9/9/9", timestamp }),
    () => drawSchedule(state, choose),
  ])();
}

/** Draws a schedule that is set, replaced or removed. */
function drawSchedule({ updatedAt: timestamp }: AgentState, choose: Choose): AgentInput {
  const missed = oneOf(choose, ["once", "skip"] as const);
  const set = { when: { everyMs: 1_000 }, due: timestamp + choose(3), message: drawText(choose), missed };
  const scheduleId = oneOf(choose, ["s-1", "s-2", "__proto__"]);
  const schedule = choose(3) === 0 ? null : set;
  return { type: "schedule-changed", scheduleId, schedule, by: "ada", timestamp };
}

const message = (state: AgentState, choose: Choose): AgentInput => ({
  type: "user-message-received",
  messageId: choose(8) === 0 ? "u-0" : `u-${state.messages.length}`,
  content: drawText(choose),
  timestamp: state.updatedAt,
});
