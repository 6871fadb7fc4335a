import type { Approval, Budget, ControlGraph } from "./config.ts";
import type { Json } from "@moora/agent-webui-protocol";
import type { PriceList } from "./prices.ts";

/**
 * Sampling and limits of a model call, in the form of `LlmSettings` of `@moora/llm`. All fields are optional. One that the
 * provider does not know is left out with a warning.
 */
export interface ModelSettings {
  readonly temperature?: number;
  /** The most tokens that one answer may have. */
  readonly maxOutputTokens?: number;
  /** From 0 to 1. */
  readonly topP?: number;
  readonly seed?: number;
  /** Texts that end an answer. */
  readonly stop?: readonly string[];
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "max";
  /** Whether to ask for log-probabilities, from which the confidence of an answer is computed. */
  readonly confidence?: boolean;
  /** Fields of the request's body as they are, by provider: `{ openai: { service_tier: "flex" } }`. */
  readonly providerOptions?: { readonly [provider: string]: { readonly [field: string]: Json } };
}

/** Everything about an agent that is data. Counts are whole numbers, times milliseconds. `agentConfigSchema` checks it. */
export interface AgentConfig {
  /** The instructions that each request begins with. Default: none. */
  readonly systemPrompt: string;
  /** The key of `models` that chooses the model. Default: "default". */
  readonly taskType: string;
  /**
   * Names of models by task type, as the provider names them; `default` for task types without an entry, and `reflect` for
   * summaries. Default: the model of the caller.
   */
  readonly models: { readonly [taskType: string]: string };
  /** Sampling and limits of each model call: temperature, token limit, reasoning effort. Default: the provider's own. */
  readonly settings: ModelSettings;
  /** Whether the first step of a loop must call a tool, or which one. Later steps are free to. Default: "auto". */
  readonly toolChoice: "auto" | "none" | "required" | { readonly name: string };
  /** JSON text of the JSON Schema that an answer has to fit, or null, the default. `answer` of `defineAgent` sets it. */
  readonly answerSchema: string | null;
  /** The most model calls for one user message, summaries not counted. Default: 50. */
  readonly maxSteps: number;
  /** How often a loop may try again after low confidence, an answer that is too short or one that does not fit. Default: 3. */
  readonly maxRetries: number;
  /** A turn below it is dropped and asked for again, if the model gives a confidence from 0 to 1. Default: 0.4. */
  readonly confidenceThreshold: number;
  /** Summarizes the history after every so many steps; 0, the default, never for that reason. */
  readonly reflectEveryNSteps: number;
  /** Summarizes the history when the last request had more input tokens; 0: never for that reason. Default: 120,000. */
  readonly reflectAboveInputTokens: number;
  /** Answers with fewer characters are asked for again. Default: 0. */
  readonly minAnswerLength: number;
  /** Whether the calls of one turn may run at the same time. Default: true. */
  readonly parallelTools: boolean;
  /** The most calls that run at the same time. Default: 8. */
  readonly maxParallelTools: number;
  /** The most calls of one turn; those beyond it fail, and the model reads why. Default: 32. */
  readonly maxCallsPerTurn: number;
  /** The most attempts of a call that interruptions end, the first included. Default: 3. */
  readonly maxToolAttempts: number;
  /** The most attempts of a model call, the first included. Default: 4. */
  readonly maxLlmAttempts: number;
  /** The wait before a failed model call is made again; it doubles up to `maxRetryDelayMs`. Default: 1,000. */
  readonly retryDelayMs: number;
  /** The longest wait before a model call is made again, also if the provider asks for a longer one. Default: 60,000. */
  readonly maxRetryDelayMs: number;
  /** Names of tools that are not offered to the model and never run. Default: none. */
  readonly blacklistedTools: readonly string[];
  /** When a person is asked before a call runs, and for how long. Default: never. */
  readonly approval: Approval;
  /**
   * The most that one loop or the whole conversation may spend. It is checked before each model call, so that the last call
   * may go beyond it. Default: no limit.
   */
  readonly budget: Budget;
  /** Prices by model, for `budget` and for the cost in `usage`. Default: none, and no cost is counted. */
  readonly prices: PriceList;
  /** Messages of earlier loops in a request: beyond this the older half is left out. Default: 50. */
  readonly initialContextWindowSize: number;
  /** By how many messages `context-window-expanded` widens the window. Default: 50. */
  readonly expandContextWindowSize: number;
  /** A user message while a loop runs waits for its end, ends it, or is refused. Default: "queue". */
  readonly interjection: "queue" | "restart" | "reject";
  /** Custom states of the control graph and the rows that lead to and from them. Default: none. */
  readonly graph: ControlGraph;
}
