import type {
  AgentConfig,
  AgentConfigChange,
  DataDefinition,
  LogListener,
  OnApproval,
  PriceList,
  StateCode,
  Tool,
} from "@moora/agent";
import type { ApprovalPredicate, StandardSchema } from "@moora/agent-core-effects";
import {
  transitionTable,
  type ApprovalPolicy,
  type BuiltInState,
  type ControlEvent,
} from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import type { CachedOptions, JsonObject, LlmCaller, RateLimits } from "@moora/llm";
import { AnthropicCaller, type AnthropicOptions } from "@moora/llm-anthropic";
import { AiSdkCaller, type AiSdkFactory, type AiSdkModel, type AiSdkOptions } from "@moora/llm-ai-sdk";
import {
  chatProfiles,
  OpenAiCaller,
  OpenAiChatCaller,
  type ChatProfileName,
  type OpenAiChatOptions,
  type OpenAiOptions,
} from "@moora/llm-openai";
import type { AgentEngine, EngineHost } from "./agent-engine.ts";
import { buildEngine, predicateName, type BuilderParts } from "./build-engine.ts";
import type { BuilderPreset } from "./builder-config.ts";

/** An approval policy: data, or a function that returns whether a call needs approval. */
export type BuilderApprovalPolicy =
  | Exclude<ApprovalPolicy, { readonly predicate: string }>
  | ApprovalPredicate;

type ChatOptions = Omit<OpenAiChatOptions, "profile">;

// Accepts every string; editors suggest the known ones.
type Suggested<Known extends string> = Known | (string & {});

/**
 * Builds an agent for one task, method by method. Immutable: every method returns a new builder, so one builder can be the
 * base of many. The order of different methods does not matter. Of two calls of the same method the last one counts, but what has a
 * name adds up: tools, states, transitions, blacklisted tools, models by task type, and fields of the configuration.
 *
 * Defaults: those of `defineAgent`; `preset` chooses others by name.
 */
export class AgentBuilder {
  #parts: BuilderParts;

  constructor(task: string) {
    this.#parts = { task, changes: [], tools: [], handlers: [] };
  }

  #with(change: Partial<BuilderParts>): AgentBuilder {
    const next = new AgentBuilder(this.#parts.task);
    next.#parts = { ...this.#parts, ...change };
    return next;
  }

  /** The model. `openai`, `anthropic` and the other provider methods create a caller and pass it here. */
  llm(caller: LlmCaller): AgentBuilder {
    return this.#with({ llm: caller });
  }

  /** Callers that are tried in this order where the model fails. See `fallback` of `@moora/llm`. */
  fallback(...callers: readonly LlmCaller[]): AgentBuilder {
    return this.#with({ fallbacks: callers });
  }

  /** Limits of the model per minute. They do not apply to the callers of `fallback`. The run cannot be synchronous. */
  rateLimited(limits: RateLimits): AgentBuilder {
    return this.#with({ rateLimits: limits });
  }

  /** Answers equal requests from a cache, also those to the callers of `fallback`. The run cannot be synchronous. */
  cached(options: CachedOptions = {}): AgentBuilder {
    return this.#with({ caching: options });
  }

  /** OpenAI's Responses API. The key defaults to OPENAI_API_KEY. */
  openai(options: OpenAiOptions = {}): AgentBuilder {
    return this.llm(new OpenAiCaller(options));
  }

  /** Anthropic's Messages API. The key defaults to ANTHROPIC_API_KEY. */
  anthropic(options: AnthropicOptions = {}): AgentBuilder {
    return this.llm(new AnthropicCaller(options));
  }

  /** Any language model of the AI SDK: a model, or a factory that creates one with the connection of a call. */
  aiSdk(source: AiSdkModel | AiSdkFactory, options: AiSdkOptions = {}): AgentBuilder {
    return this.llm(new AiSdkCaller(source, options));
  }

  /** OpenRouter. The key defaults to OPENROUTER_API_KEY. */
  openrouter(options: ChatOptions = {}): AgentBuilder {
    return this.#chat("openrouter", options);
  }

  /** Groq. The key defaults to GROQ_API_KEY. */
  groq(options: ChatOptions = {}): AgentBuilder {
    return this.#chat("groq", options);
  }

  /** DeepSeek. The key defaults to DEEPSEEK_API_KEY. */
  deepseek(options: ChatOptions = {}): AgentBuilder {
    return this.#chat("deepseek", options);
  }

  /** Mistral. The key defaults to MISTRAL_API_KEY. */
  mistral(options: ChatOptions = {}): AgentBuilder {
    return this.#chat("mistral", options);
  }

  /** Together AI. The key defaults to TOGETHER_API_KEY. */
  together(options: ChatOptions = {}): AgentBuilder {
    return this.#chat("together", options);
  }

  /** Ollama on this machine, or at `baseURL`. */
  ollama(options: ChatOptions = {}): AgentBuilder {
    return this.#chat("ollama", options);
  }

  /** vLLM on this machine, or at `baseURL`. */
  vllm(options: ChatOptions = {}): AgentBuilder {
    return this.#chat("vllm", options);
  }

  /** Any other server with a Chat Completions API, at `baseURL`. Default: the address of llama.cpp on this machine. */
  local(options: ChatOptions = {}): AgentBuilder {
    return this.#chat("local", options);
  }

  #chat(name: ChatProfileName, options: ChatOptions): AgentBuilder {
    return this.llm(new OpenAiChatCaller({ ...options, profile: chatProfiles[name] }));
  }

  /**
   * Other defaults, by name; fields that are set take precedence, in any order. `hybrid`: at most 15 steps, a reflection
   * every 5 steps, answers of at least 20 characters. An unknown name throws `BuildError` in `build`.
   */
  preset(preset: BuilderPreset): AgentBuilder {
    return this.#with({ preset });
  }

  /** The default model, for task types without one of their own. */
  model(name: string): AgentBuilder {
    return this.modelFor("default", name);
  }

  /** The model for a task type. The type `reflect` is that of the summaries of the history. */
  modelFor(taskType: string, name: string): AgentBuilder {
    return this.config({ models: { [taskType]: name } });
  }

  /** The task type, which chooses the model. */
  taskType(taskType: string): AgentBuilder {
    return this.config({ taskType });
  }

  /** The system prompt. Default: none. */
  systemPrompt(systemPrompt: string): AgentBuilder {
    return this.config({ systemPrompt });
  }

  /**
   * Any fields of the configuration. Fields replace earlier values; models, settings, budget, approval, the blacklist of tools
   * and graph are merged with them.
   */
  config(change: AgentConfigChange): AgentBuilder {
    return this.#with({ changes: [...this.#parts.changes, change] });
  }

  /**
   * The schema of the answer. The model receives it, and an answer that does not fit is requested again. `run` resolves with
   * the JSON text; `defineAgent` with `answer` returns the typed value.
   */
  answer(schema: StandardSchema | JsonObject): AgentBuilder {
    return this.#with({ answer: schema });
  }

  /** Adds a tool. `build` throws `BuildError` for two tools of one name. */
  tool(tool: Tool): AgentBuilder {
    return this.#with({ tools: [...this.#parts.tools, tool] });
  }

  /** Calls of this tool are rejected; the model reads the reason. */
  blacklistTool(name: string): AgentBuilder {
    return this.config({ toolCalls: { blacklist: [name] } });
  }

  /** The maximum number of steps, each with one model call. Default: 50. */
  maxSteps(maxSteps: number): AgentBuilder {
    return this.config({ limits: { maxSteps } });
  }

  /** Whether the calls of one turn run in parallel. Default: true. */
  parallelTools(parallelTools: boolean): AgentBuilder {
    return this.config({ toolCalls: { parallel: parallelTools } });
  }

  /** When a call needs approval. If a function throws, the call needs approval. Default: "never". */
  approvalPolicy(policy: BuilderApprovalPolicy): AgentBuilder {
    if (typeof policy !== "function") return this.config({ approval: { policy } });
    return this.config({ approval: { policy: { predicate: predicateName } } }).#with({ predicate: policy });
  }

  /** Decides the questions to a reviewer. Without it `run` and `runSync` reject such calls. */
  onApproval(onApproval: OnApproval): AgentBuilder {
    return this.#with({ onApproval });
  }

  /** The token budget of the run: input and output tokens of all model calls. The call that reaches it is the last. */
  maxTokens(maxTokens: number): AgentBuilder {
    return this.config({ budget: { maxTokens } });
  }

  /** The prices of the models. With them usage has a cost, and a budget can have a `maxCost`. */
  prices(prices: PriceList): AgentBuilder {
    return this.#with({ prices });
  }

  /** The application data, which tools with the same data and handlers read and change. Default: none. */
  data<Data>(data: DataDefinition<Data>): AgentBuilder {
    // An engine resolves with text: nothing here reads the data by its type.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return this.#with({ data: data as unknown as DataDefinition });
  }

  /**
   * What the tools and handlers need of this process, such as a database connection: they read it as `context.context`. The log
   * does not contain it. Without it, `build` throws `BuildError` for a tool that needs it. Default: none.
   */
  context(context: object): AgentBuilder {
    return this.#with({ context });
  }

  /**
   * Receives the log entries of the run: retries, leases, late results, and what else is not an error of a caller. A synchronous run
   * logs nothing. Default: none.
   */
  onLog(onLog: LogListener): AgentBuilder {
    return this.#with({ onLog });
  }

  /** Stores the run in a log. Every acknowledged input is durable, and a crashed run resumes with `resume()`. */
  log(log: EventLog): AgentBuilder {
    return this.#with({ log });
  }

  /** The session id of the run in its log. Default: a random id. */
  sessionId(sessionId: string): AgentBuilder {
    return this.#with({ sessionId });
  }

  /**
   * Resumes an existing session: its open loop continues, or its recorded answer is returned. After a failed loop the task is
   * sent again, as a new message. Without `resume`, an existing session is rejected as `Conflict`.
   */
  resume(): AgentBuilder {
    return this.#with({ resumes: true });
  }

  /**
   * A custom state. Its handler returns the event that leaves the state; the handler of a terminal state does not run. After a
   * crash a handler does not run again, unless it is defined as `{ handle, replay: "safe" }`. With the name of a built-in state:
   * `{ before, after }`, which run around it (`StateWrapper`).
   */
  state(name: string, handler: StateCode): AgentBuilder {
    const next = this.#with({ handlers: [...this.#parts.handlers, [name, handler]] });
    return Object.hasOwn(transitionTable, name) ? next : next.#graph({ states: [name] });
  }

  /** A transition. It takes precedence over the built-in transition for the same state and event; to null, it removes that. */
  transition(
    from: Suggested<BuiltInState>,
    event: Suggested<ControlEvent>,
    to: Suggested<BuiltInState> | null,
  ): AgentBuilder {
    return this.#graph({ rows: { [from]: { [event]: to } } });
  }

  /** A state that ends the run. The answer is the last text of the model. */
  terminalState(name: string): AgentBuilder {
    return this.#graph({ states: [name], terminals: [name] });
  }

  #graph(change: Partial<AgentConfig["graph"]>): AgentBuilder {
    return this.config({ graph: { states: [], rows: {}, terminals: [], ...change } });
  }

  /**
   * Creates an engine that runs the task once; each call creates a new one. `host` is for tests: a manual clock, deterministic
   * ids. Throws `BuildError` without a model or without a task that is text, and for an invalid configuration: an invalid
   * limit, a duplicate name, a transition to an unknown state, a state without a handler.
   */
  build(host: EngineHost = {}): AgentEngine {
    return buildEngine(this.#parts, host);
  }
}
