import {
  BuildError,
  defineAgent,
  type Agent,
  type AgentConfig,
  type OnApproval,
  type PriceList,
  type StateDefinition,
  type StateHandler,
  type Tool,
} from "@moora/agent";
import type { ApprovalPredicate, StandardSchema } from "@moora/agent-core-effects";
import type { ApprovalPolicy, BuiltInState, ControlEvent } from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import type { JsonObject, LlmCaller } from "@moora/llm";
import { AnthropicCaller, type AnthropicOptions } from "@moora/llm-anthropic";
import {
  chatProfiles,
  OpenAiCaller,
  OpenAiChatCaller,
  type ChatProfileName,
  type OpenAiChatOptions,
  type OpenAiOptions,
} from "@moora/llm-openai";
import { AgentEngine, type EngineHost } from "./agent-engine.ts";
import { presetConfig, mergeConfig, presetNames, type BuilderPreset } from "./builder-config.ts";
import type { RunStorage } from "./durable-runner.ts";

/** A policy that is data, or a function that says of each call whether a human has to approve it. */
export type BuilderApprovalPolicy =
  | Exclude<ApprovalPolicy, { readonly predicate: string }>
  | ApprovalPredicate;

type ChatOptions = Omit<OpenAiChatOptions, "profile">;

interface Parts {
  readonly task: string;
  readonly preset?: BuilderPreset;
  /** The fields that were set, in the order in which they were. */
  readonly changes: readonly Partial<AgentConfig>[];
  readonly tools: readonly Tool[];
  readonly handlers: readonly (readonly [state: string, handler: StateHandler | StateDefinition])[];
  readonly llm?: LlmCaller;
  readonly onApproval?: OnApproval;
  readonly predicate?: ApprovalPredicate;
  readonly answer?: StandardSchema | JsonObject;
  readonly prices?: PriceList;
  readonly log?: EventLog;
  readonly sessionId?: string;
  readonly resumes?: boolean;
}

/** The name of the one predicate that a builder can have. */
const predicateName = "approvalPolicy";

// Any other word is allowed, but editors offer ours.
type Suggested<Known extends string> = Known | (string & {});

/**
 * Builds an agent for one task, method by method. Immutable: every method returns a new builder, so one builder can be the
 * base of many. The order of different methods does not matter; of two calls of the same method the last one counts.
 *
 * Defaults: those of `defineAgent`; `preset` chooses others by name.
 */
export class AgentBuilder {
  #parts: Parts;

  constructor(task: string) {
    this.#parts = { task, changes: [], tools: [], handlers: [] };
  }

  #with(change: Partial<Parts>): AgentBuilder {
    const next = new AgentBuilder(this.#parts.task);
    next.#parts = { ...this.#parts, ...change };
    return next;
  }

  /** The model that is called. Every other provider word is this one with a caller made for you. */
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

  /** Key: OPENROUTER_API_KEY. */
  openrouter(options: ChatOptions = {}): AgentBuilder {
    return this.#chat("openrouter", options);
  }

  /** Key: GROQ_API_KEY. */
  groq(options: ChatOptions = {}): AgentBuilder {
    return this.#chat("groq", options);
  }

  /** Key: DEEPSEEK_API_KEY. */
  deepseek(options: ChatOptions = {}): AgentBuilder {
    return this.#chat("deepseek", options);
  }

  /** Key: MISTRAL_API_KEY. */
  mistral(options: ChatOptions = {}): AgentBuilder {
    return this.#chat("mistral", options);
  }

  /** Key: TOGETHER_API_KEY. */
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

  /** Any other server that speaks Chat Completions, by its `baseURL`. Default: llama.cpp's. */
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

  /** The model for everything that `modelFor` does not name. */
  model(name: string): AgentBuilder {
    return this.modelFor("default", name);
  }

  /** The model for a type of task; `reflect` is the type of the summaries that the agent makes of its history. */
  modelFor(taskType: string, name: string): AgentBuilder {
    return this.config({ models: { [taskType]: name } });
  }

  taskType(taskType: string): AgentBuilder {
    return this.config({ taskType });
  }

  systemPrompt(systemPrompt: string): AgentBuilder {
    return this.config({ systemPrompt });
  }

  /**
   * Any field that is data. Fields replace what was there; models, settings, budget, approval, blacklistedTools and
   * graph are added to.
   */
  config(change: Partial<AgentConfig>): AgentBuilder {
    return this.#with({ changes: [...this.#parts.changes, change] });
  }

  /**
   * The schema of the answer: the model reads it, and an answer that does not fit is asked for again. `run` resolves with the
   * JSON text; `defineAgent` with `answer` gives the value in its type.
   */
  answer(schema: StandardSchema | JsonObject): AgentBuilder {
    return this.#with({ answer: schema });
  }

  tool(tool: Tool): AgentBuilder {
    return this.#with({ tools: [...this.#parts.tools, tool] });
  }

  /** Calls of this tool are refused; the model reads why. */
  blacklistTool(name: string): AgentBuilder {
    return this.config({ blacklistedTools: [name] });
  }

  /** Model calls for the plan, at most. */
  maxSteps(maxSteps: number): AgentBuilder {
    return this.config({ maxSteps });
  }

  /** Whether the calls of one turn run side by side. Default: true. */
  parallelTools(parallelTools: boolean): AgentBuilder {
    return this.config({ parallelTools });
  }

  /** When a human is asked before a call runs. A function that throws asks. Default: "never". */
  approvalPolicy(policy: BuilderApprovalPolicy): AgentBuilder {
    if (typeof policy !== "function") return this.config({ approval: { policy } });
    return this.config({ approval: { policy: { predicate: predicateName } } }).#with({ predicate: policy });
  }

  /** Answers what is asked of a human. Without it `run` and `runSync` reject such calls. */
  onApproval(onApproval: OnApproval): AgentBuilder {
    return this.#with({ onApproval });
  }

  /** The budget of the run: input and output tokens of all its model calls. The call that reaches it is the last. */
  maxTokens(maxTokens: number): AgentBuilder {
    return this.config({ budget: { maxTokens } });
  }

  /** What the models cost: then usage has a cost, and a budget can have a `maxCost`. */
  prices(prices: PriceList): AgentBuilder {
    return this.#with({ prices });
  }

  /** Keeps the run in a log: what is told of it is durable, and a crash is gone on from. */
  log(log: EventLog): AgentBuilder {
    return this.#with({ log });
  }

  /** The name of the run in its log. Default: a random one. */
  sessionId(sessionId: string): AgentBuilder {
    return this.#with({ sessionId });
  }

  /**
   * Continues the session where there is one: with the loop that is open, or with the answer that is recorded. A loop that
   * failed is not continued: the task is asked again, as a new message. Without this word an existing session is refused
   * as `Conflict`.
   */
  resume(): AgentBuilder {
    return this.#with({ resumes: true });
  }

  /**
   * A state of your own. Its handler returns the event that leaves it; it does not run where the state is a terminal one.
   * After a crash it does not run again, unless a definition says so: `{ handle, replay: "safe" }`.
   */
  state(name: string, handler: StateHandler | StateDefinition): AgentBuilder {
    return this.#graph({ states: [name] }).#with({ handlers: [...this.#parts.handlers, [name, handler]] });
  }

  /** A row of the transition table. It goes before the built-in row for the same state and event. */
  transition(
    from: Suggested<BuiltInState>,
    event: Suggested<ControlEvent>,
    to: Suggested<BuiltInState>,
  ): AgentBuilder {
    return this.#graph({ rows: { [from]: { [event]: to } } });
  }

  /** A state that ends the run; its answer is what the model said last. */
  terminalState(name: string): AgentBuilder {
    return this.#graph({ states: [name], terminals: [name] });
  }

  #graph(change: Partial<AgentConfig["graph"]>): AgentBuilder {
    return this.config({ graph: { states: [], rows: {}, terminals: [], ...change } });
  }

  /**
   * An engine that runs the task once; each `build` gives another one. `host` is for tests: a clock moved by hand, ids
   * that are the same each time. Throws `BuildError` without a model or a task, and for what can never work: a bad
   * limit, a name taken twice, a row that leads nowhere, a state without a handler.
   */
  build(host: EngineHost = {}): AgentEngine {
    const { task, llm, tools, handlers, predicate, onApproval, answer, prices } = this.#parts;
    if (llm === undefined) throw new BuildError("An agent needs a model: add llm(...) or openai().");
    if (task.trim() === "") throw new BuildError("An agent needs a task that is not blank.");
    const storage = storageOf(this.#parts);
    const parts = {
      llm,
      config: configOf(this.#parts),
      tools,
      states: statesOf(handlers),
      predicates: predicate === undefined ? {} : { [predicateName]: predicate },
      ...(prices === undefined ? {} : { prices }),
    };
    const agent = answer === undefined ? defineAgent(parts) : toTextAgent(defineAgent({ ...parts, answer }));
    return new AgentEngine(agent, task, {
      ...host,
      ...(onApproval === undefined ? {} : { onApproval }),
      ...(storage === undefined ? {} : { storage }),
    });
  }
}

/** The same agent with the text of a checked answer instead of its value: an engine resolves with text. */
const toTextAgent = (agent: Agent<unknown>): Agent => ({
  ...agent,
  answerOf: async (text) => {
    await agent.answerOf(text);
    return text;
  },
});

/** The whole configuration. Throws `BuildError` for a preset that does not exist. */
function configOf({ preset, changes }: Parts): AgentConfig {
  if (preset !== undefined && !presetNames.includes(preset))
    throw new BuildError(`Unknown preset "${preset}". Available presets: ${presetNames.join(", ")}.`);
  return changes.reduce(mergeConfig, presetConfig(preset));
}

/** Where a run is kept. Throws `BuildError` for a name, or for going on, without a log. */
function storageOf({ log, sessionId, resumes = false }: Parts): RunStorage | undefined {
  if (log !== undefined) return { log, id: sessionId ?? `task_${crypto.randomUUID()}`, resumes };
  if (sessionId === undefined && !resumes) return undefined;
  throw new BuildError("A session needs a log to be in: add log(...).");
}

function statesOf(handlers: Parts["handlers"]): Readonly<Record<string, StateHandler | StateDefinition>> {
  const names = handlers.map(([name]) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new BuildError(`The state ${duplicate} is defined twice.`);
  return Object.fromEntries(handlers);
}
