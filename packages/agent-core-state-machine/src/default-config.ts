import { defaultContext, type AgentConfig } from "./agent-config.ts";

/**
 * The defaults of the fields that every release has known. A stored configuration without `context`, or without a limit of repeated calls,
 * is folded by the rules of its time.
 */
export const baseAgentConfig: AgentConfig = {
  systemPrompt: "",
  taskType: "default",
  models: {},
  settings: {},
  toolChoice: "auto",
  answerSchema: null,
  limits: { maxSteps: 50, minAnswerLength: 0, minConfidence: 0.4 },
  retries: { maxAnswerRetries: 3, maxLlmAttempts: 4, maxToolAttempts: 3, delayMs: 1_000, maxDelayMs: 60_000 },
  reflection: { everyNSteps: 0, aboveInputTokens: 120_000 },
  window: { initialSize: 50, expandBy: 50 },
  toolCalls: { parallel: true, maxParallel: 8, maxPerTurn: 32, blacklist: [] },
  approval: { policy: "never" },
  budget: {},
  prices: {},
  interjection: "queue",
  showData: "never",
  graph: { states: [], rows: {}, terminals: [] },
};

/** The default configuration. */
export const defaultAgentConfig: AgentConfig = {
  ...baseAgentConfig,
  limits: { ...baseAgentConfig.limits, maxRepeatedCalls: 0 },
  context: defaultContext,
};
