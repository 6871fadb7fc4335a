import type { Approval, Budget, ControlGraph } from "./config-parts.ts";
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
  /**
   * Tools that the provider runs, beside those of the agent, in the provider's form: `{ openai: [{ type: "web_search" }] }`.
   * Summaries are made without them.
   */
  readonly providerTools?: { readonly [provider: string]: readonly { readonly [field: string]: Json }[] };
}

/** How requests offer some of the tools, and the model finds the others. */
export interface ToolSearch {
  /** The names of tools that every request offers. Default: none. */
  readonly always?: readonly string[];
  /** The most tools that one search finds. Default: 5. */
  readonly maxFound?: number;
  /** Until when a tool that was found is offered: to the end of the conversation, or of the loop. Default: "conversation". */
  readonly keep?: "conversation" | "loop";
}

/** The configuration of an agent, as data. Counts are integers, times are in milliseconds. `agentConfigSchema` validates it. */
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
  /**
   * Whether the model finds tools with `search_tools`, and requests offer only those, and how. Absent: requests offer all tools.
   * Default: `defineAgent` sets it to true for an agent with more than 40 tools.
   */
  readonly toolSearch?: boolean | ToolSearch;
  /** JSON text of the JSON Schema that an answer has to fit, or null, the default. `answer` of `defineAgent` sets it. */
  readonly answerSchema: string | null;
  /** The limits of a loop and of its answers. */
  readonly limits: {
    /** The most model calls for one user message, summaries not counted. Default: 50. */
    readonly maxSteps: number;
    /** Answers with fewer characters are asked for again. Default: 0. */
    readonly minAnswerLength: number;
    /** A turn below it is dropped and asked for again, if the model gives a confidence from 0 to 1. Default: 0.4. */
    readonly minConfidence: number;
    /**
     * The most turns in a row with the same calls, arguments and results; the model reads a note after five. 0: no limit. Absent only in
     * a configuration of an earlier release, which has no note either. Default: 0.
     */
    readonly maxRepeatedCalls?: number;
  };
  /** How often and when failed work is retried. */
  readonly retries: {
    /** How often a loop may ask again after low confidence, or after an answer that is too short or invalid. Default: 3. */
    readonly maxAnswerRetries: number;
    /** The most attempts of a model call, the first included. Default: 4. */
    readonly maxLlmAttempts: number;
    /** The most attempts of a tool call that interruptions end, the first included. Default: 3. */
    readonly maxToolAttempts: number;
    /** The delay before the first retry of a model call, in milliseconds; it doubles up to `maxDelayMs`. Default: 1,000. */
    readonly delayMs: number;
    /** The longest delay before a retry. If the provider asks for a longer one, the loop fails at once. Default: 60,000. */
    readonly maxDelayMs: number;
  };
  /** When the history is summarized. */
  readonly reflection: {
    /** The number of steps between two reflections. Default: 0, no reflection for this reason. */
    readonly everyNSteps: number;
    /** Shortens a request with more input tokens than this, as `context` says; 0 disables it. Default: 120,000. */
    readonly aboveInputTokens: number;
  };
  /** How a long context is shortened before a request: old results are left out, then summarized, then the window is halved. */
  readonly context?: {
    /** Shortens a request with more input tokens than this; 0 disables it. Default: `reflection.aboveInputTokens`. */
    readonly maxInputTokens?: number;
    /** The newest turns, with their results, that are kept as they are where that is possible. Default: 3. */
    readonly keepNewest: number;
    /** Leaves out old results in requests with more input tokens than this. Default: `maxInputTokens`. */
    readonly clearToolResultsAbove?: number;
    /** Whether turns are summarized. Default: true. */
    readonly summarize: boolean;
  };
  /** The part of the conversation that a request has. */
  readonly window: {
    /**
     * The most messages and turns, those of the running loop included. When there are more, the window is cut to at most half
     * of this number, at a message of the user; the running loop always stays. Default: 50.
     */
    readonly initialSize: number;
    /** By how many messages `context-window-expanded` widens the window. Default: 50. */
    readonly expandBy: number;
  };
  /** Which calls of a turn run, and how many at the same time. */
  readonly toolCalls: {
    /** Whether the calls of one turn may run at the same time. Default: true. */
    readonly parallel: boolean;
    /** The most calls that run at the same time. Default: 8. */
    readonly maxParallel: number;
    /** The most calls of one turn; those beyond it fail, and the model reads why. Default: 32. */
    readonly maxPerTurn: number;
    /** Names of tools that are not offered to the model and never run. Default: none. */
    readonly blacklist: readonly string[];
  };
  /** When a person is asked before a call runs, and for how long. Default: never. */
  readonly approval: Approval;
  /**
   * The most that one loop or the whole conversation may spend. It is checked before each model call, so that the last call
   * may go beyond it. Default: no limit.
   */
  readonly budget: Budget;
  /** Prices by model, for `budget` and for the cost in `usage`. Default: none, and no cost is counted. */
  readonly prices: PriceList;
  /**
   * What happens to a user message that arrives while a loop runs. "queue": the next request contains it. "restart": it
   * cancels the loop; the text that the model was writing is kept, as its message. "reject": it is ignored. Default: "queue".
   */
  readonly interjection: "queue" | "restart" | "reject";
  /**
   * Whether the model sees the application data. "changed": the next request has a note with the data as JSON whenever it has
   * changed since the last such note. Default: "never".
   */
  readonly showData: "never" | "changed";
  /** Custom states of the control graph and the rows that lead to and from them. Default: none. */
  readonly graph: ControlGraph;
}

/** How a long context is shortened by default. */
export const defaultContext: NonNullable<AgentConfig["context"]> = {
  keepNewest: 3,
  summarize: true,
};

/** Whether requests are planned by `context`. Sessions of releases that had none are folded by the rules of their time. */
export const isPlanned = ({ context }: AgentConfig): boolean => context !== undefined;

/** The groups of a configuration. A change may contain some of their fields; the others keep their values. */
export const configGroups = ["limits", "retries", "reflection", "context", "window", "toolCalls"] as const;

type ConfigGroup = (typeof configGroups)[number];

/**
 * A change of a configuration: any of its fields. Of the groups `limits`, `retries`, `reflection`, `context`, `window` and `toolCalls`
 * it has the fields that change; every other field is replaced as a whole.
 */
export type AgentConfigChange = {
  readonly [Name in keyof AgentConfig]?: Name extends ConfigGroup
    ? Partial<AgentConfig[Name]>
    : AgentConfig[Name];
};

/**
 * Returns the configuration with a change applied. An undefined field changes nothing, also within an object:
 * `settings: { temperature: undefined }` means the same as `settings: {}`. Does not modify its arguments.
 */
export const changeConfig = (config: AgentConfig, change: AgentConfigChange): AgentConfig => ({
  ...merged(config, change),
  limits: merged(config.limits, change.limits),
  retries: merged(config.retries, change.retries),
  reflection: merged(config.reflection, change.reflection),
  ...(config.context === undefined && change.context === undefined
    ? {}
    : { context: merged(config.context ?? defaultContext, change.context) }),
  window: merged(config.window, change.window),
  toolCalls: merged(config.toolCalls, change.toolCalls),
});

const merged = <Fields extends object>(fields: Fields, change: object | undefined): Fields => ({
  ...fields,
  ...withoutUndefined({ ...change }),
});

/** The depth of the nested objects of a configuration: `approval.policy` is at 2. */
const maxFieldDepth = 2;

/**
 * A copy of a change, or of one of its objects, without undefined fields. Only plain objects are copied; any other value is
 * returned as it is.
 */
export function withoutUndefined<Value>(value: Value, depth: number = maxFieldDepth): Value {
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const copy = { ...value };
  for (const name of Object.keys(copy)) {
    const field: unknown = Reflect.get(copy, name);
    if (field === undefined) Reflect.deleteProperty(copy, name);
    else if (depth > 0) Reflect.set(copy, name, withoutUndefined(field, depth - 1));
  }
  return copy;
}
