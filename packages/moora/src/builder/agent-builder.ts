import type { AgentConfig, AgentConfigChange, OnApproval, StateCode, Tool } from "@moora/agent";
import type { ApprovalPredicate } from "@moora/agent-core-effects";
import {
  transitionTable,
  type ApprovalPolicy,
  type BuiltInState,
  type ControlEvent,
} from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import type { LlmCaller } from "@moora/llm";
import { AnthropicCaller, type AnthropicOptions } from "@moora/llm-anthropic";
import {
  chatProfiles,
  OpenAiCaller,
  OpenAiChatCaller,
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
 * Builds an agent for one task, method by method, in the words of the hybrid state machine; `defineAgent` takes the same and
 * more. Immutable: every method returns a new builder, so one builder can be the base of many. The order of different methods does
 * not matter. Of two calls of the same method the last one counts, but what has a name adds up: tools, states, transitions,
 * blacklisted tools, models by task type, and fields of the configuration.
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

  /** The model: any caller, also one of `openaiChat`, `aiSdk`, `fallback`, `cached` or `rateLimited`. */
  llm(caller: LlmCaller): AgentBuilder {
    return this.#with({ llm: caller });
  }

  /** OpenAI's Responses API. The key defaults to OPENAI_API_KEY. */
  openai(options: OpenAiOptions = {}): AgentBuilder {
    return this.llm(new OpenAiCaller(options));
  }

  /** Anthropic's Messages API. The key defaults to ANTHROPIC_API_KEY. */
  anthropic(options: AnthropicOptions = {}): AgentBuilder {
    return this.llm(new AnthropicCaller(options));
  }

  /** Groq. The key defaults to GROQ_API_KEY. */
  groq(options: ChatOptions = {}): AgentBuilder {
    return this.llm(new OpenAiChatCaller({ ...options, profile: chatProfiles.groq }));
  }

  /** Ollama on this machine, or at `baseURL`. */
  ollama(options: ChatOptions = {}): AgentBuilder {
    return this.llm(new OpenAiChatCaller({ ...options, profile: chatProfiles.ollama }));
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

  /** Decides the questions to a reviewer. Without it `run` rejects such calls. */
  onApproval(onApproval: OnApproval): AgentBuilder {
    return this.#with({ onApproval });
  }

  /** The token budget of the run: input and output tokens of all model calls. The call that reaches it is the last. */
  maxTokens(maxTokens: number): AgentBuilder {
    return this.config({ budget: { maxTokens } });
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
