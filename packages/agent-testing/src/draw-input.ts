import { effectsAt } from "@moora/agent-core-effects";
import type {
  AgentConfig,
  AgentConfigChange,
  AgentInput,
  AgentState,
  ToolDefinition,
} from "@moora/agent-core-state-machine";
import { configGroups } from "@moora/agent-core-state-machine/internal";
import { drawDataChange } from "./draw-data.ts";
import type { Choose } from "./choose.ts";
import { drawAnswer, drawText, success } from "./draw-effect-answer.ts";
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
    () => ({ type: "session-opened", owner: oneOf(choose, ["a", "b"]), timestamp }),
    () => ({ type: "agent-configured", config: drawConfigChange(choose), timestamp }),
    () => ({ type: "agent-configured", tools: drawTools(choose), timestamp }),
    () => ({ type: "context-window-expanded", timestamp }),
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
  ])();
}

const message = (state: AgentState, choose: Choose): AgentInput => ({
  type: "user-message-received",
  messageId: choose(8) === 0 ? "u-0" : `u-${state.messages.length}`,
  content: drawText(choose),
  timestamp: state.updatedAt,
});

/** Tools of all kinds that the reducer distinguishes. */
export function drawTools(choose: Choose): Readonly<Record<string, ToolDefinition>> {
  const base: ToolDefinition = { description: "drawn", schema: '{"type":"object"}' };
  const kinds: Readonly<Record<string, ToolDefinition>> = {
    plain: base,
    safe: { ...base, replay: "safe", maxParallel: 1, retries: 2 },
    keyed: { ...base, replay: "keyed", risk: "medium", retries: 1 },
    probed: { ...base, probe: true, risk: "high" },
    asked: { ...base, onUnknown: "ask", approval: "always" },
    human: { ...base, asksHuman: true },
    free: { ...base, approval: "never", risk: "critical" },
  };
  return Object.fromEntries(Object.entries(kinds).filter(() => choose(3) > 0));
}

/** A few fields of a configuration, small enough for its limits to be reached. */
export function drawConfigChange(choose: Choose): AgentConfigChange {
  const all: readonly [AgentConfigChange, ...AgentConfigChange[]] = [
    { limits: { maxSteps: 1 + choose(6) } },
    { retries: { maxAnswerRetries: choose(3) } },
    { reflection: { everyNSteps: choose(3) } },
    { reflection: { aboveInputTokens: choose(300) } },
    { limits: { minAnswerLength: choose(10) } },
    { toolCalls: { parallel: choose(2) === 0 } },
    { showData: choose(2) === 0 ? "changed" : "never" },
    { toolCalls: { maxParallel: 1 + choose(3) } },
    { toolCalls: { maxPerTurn: 1 + choose(3) } },
    { retries: { maxToolAttempts: 1 + choose(3) } },
    { retries: { maxLlmAttempts: 1 + choose(3) } },
    { toolCalls: { blacklist: choose(2) === 0 ? ["plain"] : [] } },
    {
      approval: {
        policy: "always",
        ...(choose(2) === 0 ? { expiresAfterMs: 50, remindAfterMs: 10, escalateAfterMs: 20 } : {}),
      },
    },
    {
      approval: {
        policy: oneOf<AgentConfig["approval"]["policy"]>(choose, [
          "never",
          { above: "medium" },
          { tools: ["safe"] },
          { predicate: "any" },
        ]),
      },
    },
    { budget: { maxTokens: 1 + choose(2000), maxTotalTokens: 1 + choose(4000) } },
    { budget: { maxInputTokens: 1 + choose(2000), maxOutputTokens: 1 + choose(300), warnAt: 0.5 } },
    { window: { initialSize: 1 + choose(6), expandBy: 1 + choose(4) } },
    { interjection: oneOf(choose, ["queue", "restart", "reject"]) },
    { systemPrompt: drawText(choose) },
    {
      graph: {
        states: ["Check", "Parked", "Gone"],
        rows: {
          Planning: { LlmFinalAnswer: "Check", LlmToolCall: "Parked" },
          Check: { Ok: "Done", Again: "Planning", Out: "Gone" },
          Parked: { Go: "Acting", Drop: "Planning" },
        },
        terminals: ["Gone"],
      },
    },
  ];
  return oneOf(choose, all);
}

/** Draws a configuration with several changes. */
export const drawConfig = (choose: Choose): AgentConfigChange =>
  Array.from({ length: choose(6) }, () => drawConfigChange(choose)).reduce(mergeChanges, {});

const mergeChanges = (all: AgentConfigChange, change: AgentConfigChange): AgentConfigChange => ({
  ...all,
  ...change,
  ...Object.fromEntries(
    configGroups
      .filter((group) => change[group] !== undefined)
      .map((group) => [group, { ...all[group], ...change[group] }]),
  ),
});
