import type { AgentConfig, AgentConfigChange, ToolDefinition } from "@moora/agent-core-state-machine";
import { configGroups } from "@moora/agent-core-state-machine/internal";
import type { Choose } from "./choose.ts";
import { drawText } from "./draw-text.ts";
import { oneOf } from "./simulation/choices.ts";

/** Tools of all kinds that the reducer distinguishes. */
export function drawTools(choose: Choose): Readonly<Record<string, ToolDefinition>> {
  const base: ToolDefinition = { description: "drawn", schema: '{"type":"object"}' };
  const kinds: Readonly<Record<string, ToolDefinition>> = {
    plain: base,
    safe: { ...base, replay: "safe", maxParallel: 1, retries: 2 },
    keyed: { ...base, replay: "keyed", risk: "medium", retries: 1 },
    probed: { ...base, probe: true, risk: "high" },
    asked: { ...base, onUnknown: "ask", approval: "always" },
    spending: { ...base, replay: "safe", retries: 1, spends: { tokens: 300 } },
    human: { ...base, asksHuman: true },
    job: { ...base, replay: "keyed", resumable: true },
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
    { context: { maxInputTokens: choose(300), keepNewest: 1 + choose(3), summarize: choose(4) > 0 } },
    { context: { maxInputTokens: 100, clearToolResultsAbove: choose(200) } },
    { limits: { minAnswerLength: choose(10) } },
    { toolCalls: { parallel: choose(2) === 0 } },
    { toolSearch: choose(3) > 0 },
    {
      toolSearch: {
        always: ["plain"],
        maxFound: 1 + choose(3),
        keep: oneOf(choose, ["conversation", "loop"]),
      },
    },
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
    // A loop may have ended in Gone before the second one.
    { graph: oneOf(choose, [graphWithTerminal, graphWithTerminal, graphOfTwo]) },
  ];
  return oneOf(choose, all);
}

const graphOfTwo = {
  states: ["Check", "Parked"],
  rows: {
    Planning: { LlmFinalAnswer: "Check", LlmToolCall: "Parked" },
    Check: { Ok: "Done", Again: "Planning" },
    Parked: { Go: "Acting", Drop: "Planning" },
  },
  terminals: [],
};

const graphWithTerminal = {
  states: [...graphOfTwo.states, "Gone"],
  rows: { ...graphOfTwo.rows, Check: { ...graphOfTwo.rows.Check, Out: "Gone" } },
  terminals: ["Gone"],
};

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
