import type {
  AgentParts,
  AnyData,
  DataDefinition,
  ApprovalPredicate,
  OutputOf,
  RunLimits,
  StandardSchema,
  ContextDefinition,
  ContextNeededBy,
  Guardrail,
  Tool,
  WithNeed,
} from "@moora/agent-core-effects";
import {
  defaultAgentConfig,
  initialAgentState,
  type AgentConfig,
  type AgentConfigChange,
  type AgentState,
  type Json,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import type { JsonObject, LlmCaller } from "@moora/llm";
import { refuse } from "@moora/agent-core-effects/internal";
import { mostTools } from "@moora/agent-core-state-machine/internal";
import { checkAgentOptions } from "./agent-options.ts";
import { answerCheck, type AnswerCheck } from "./answer-check.ts";
import { answerReader, configuredCheck, schemaText } from "./answer-reader.ts";
import { checkIsAgent } from "./check-arguments.ts";
import {
  validateConfig,
  validateRunLimits,
  mergeConfig,
  checkEffective,
  checkModels,
  checkNames,
} from "./validate-config.ts";
import { graphWith, handlersOf, withWrappers, type StateCode, type States } from "./custom-states.ts";
import { withGuardrails } from "./guardrails/with-guardrails.ts";
import { nextCron } from "./next-cron.ts";
import { checkPrices, type PriceList } from "./price-list.ts";
import type { Team } from "./team/member-at.ts";
import { toolRegistry } from "./tool-registry.ts";

/**
 * The options of `defineAgent`. Only `llm` is required. `Schema` is the type of `answer`, default: no schema; `Data` that of the
 * application data; `Context` that of what the handlers need of the host; `Tools` that of the tools.
 */
export interface AgentOptions<
  Schema extends StandardSchema | JsonObject | undefined = undefined,
  Data = unknown,
  Context = unknown,
  Tools extends readonly Tool[] = readonly Tool[],
> {
  /** The model. */
  readonly llm: LlmCaller;
  /** The tools that the model may call. Default: none. */
  readonly tools?: Tools;
  /**
   * The instructions at the beginning of each request; the same as `config.systemPrompt`, and used instead of it. Default:
   * none.
   */
  readonly systemPrompt?: string;
  /**
   * The schema of answers: a Standard Schema or a JSON Schema. It is sent to the model, each answer is checked against
   * it, and the answer has its type. An answer that does not fit is requested again, up to
   * `config.retries.maxAnswerRetries` times. Default: any text.
   */
  readonly answer?: Schema;
  /**
   * The application data that each session of the agent has: `current().data`, changed by `update` of the session, of tools
   * with the same `data` and of handlers. Default: none.
   */
  readonly data?: DataDefinition<Data>;
  /** Fields of the configuration. Each field that is not given has its default. */
  readonly config?: AgentConfigChange;
  /** The handlers of the custom states of `config.graph`, and the code around built-in states, by name. Default: none. */
  readonly states?: Readonly<Record<string, StateCode<NoInfer<Data>, NoInfer<Context>>>>;
  /** Checks of what people write, tools return and the model answers, in order. Default: none. */
  readonly guardrails?: readonly Guardrail[];
  /**
   * What the host of a session has to give for the handlers, defined by `defineContext`: they read it as `context.context`.
   * Tools name what they need themselves. Default: nothing.
   */
  readonly context?: ContextDefinition<Context>;
  /** The predicates that `config.approval.policy` can name. Default: none. */
  readonly predicates?: Readonly<Record<string, ApprovalPredicate>>;
  /**
   * Limits of the runner. The defaults are in `defaultRunLimits`, such as 120,000 ms for a tool and 100,000 characters
   * for a result.
   */
  readonly runLimits?: Partial<RunLimits>;
  /**
   * Prices by model, for a million tokens: with them usage has a cost, and a budget can have a `maxCost`. Replaces
   * `config.prices`. Default: none.
   */
  readonly prices?: PriceList;
  /** The name of the agent in the header of every log; an agent with another name cannot open the session. Default: "agent". */
  readonly name?: string;
  /** The release of your agent. A log records it each time the session is opened. Default: "0". */
  readonly version?: string;
}

/**
 * An agent: an immutable value for any host. `config` and `tools` are its data, `parts` is its code. `Data` is the type of the
 * application data of its sessions, `Tools` the union of the types of its tools.
 */
export interface Agent<Answer = string, Data = unknown, Tools extends Tool = Tool> {
  readonly name: string;
  readonly version: string;
  readonly config: AgentConfig;
  readonly tools: Readonly<Record<string, ToolDefinition>>;
  readonly parts: AgentParts;
  readonly runLimits: RunLimits;
  /** The agents of a team, which `defineTeam` returned. `config`, `tools` and `parts` are those of the one that starts. */
  readonly team?: Team;
  /** Exists only for types; not set. */
  readonly "~data"?: Data;
  /** Exists only for types; not set. */
  readonly "~tools"?: Tools;
  /**
   * Reads the answer from the text of the model. Rejects with `AgentError` for a text that does not fit the schema.
   * `schema` is `config.answerSchema` of the state; default: that of this agent.
   */
  answerOf(text: string, schema?: string | null): Promise<Answer>;
}

type AnswerOf<Schema> = Schema extends StandardSchema | JsonObject ? OutputOf<Schema> : string;

/**
 * Defines an agent. Throws `BuildError`, with the path, the value and the fix, for an agent that cannot work: a missing
 * model, an unknown option or field, a limit out of range, a duplicate name, a name that matches no tool, a row of the
 * graph that leads to no state.
 */
export function defineAgent<
  const Schema extends StandardSchema | JsonObject | undefined = undefined,
  Data = unknown,
  Context = unknown,
  const Tools extends readonly Tool[] = readonly Tool[],
>(
  options: AgentOptions<Schema, Data, Context, Tools>,
): WithNeed<
  Agent<AnswerOf<Schema>, NoInfer<Data>, NoInfer<Tools>[number]>,
  NoInfer<Context> & ContextNeededBy<NoInfer<Tools>[number]>
> {
  checkAgentOptions(options);
  // The context and the tools exist only for types.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return agentOf(options) as WithNeed<
    Agent<AnswerOf<Schema>, NoInfer<Data>, NoInfer<Tools>[number]>,
    NoInfer<Context> & ContextNeededBy<NoInfer<Tools>[number]>
  >;
}

function agentOf<Schema extends StandardSchema | JsonObject | undefined, Data, Context>(
  options: AgentOptions<Schema, Data, Context>,
): Agent<AnswerOf<Schema>, Data> {
  const answers = answerCheckOf({ answer: options.answer, config: options.config });
  const reader = answerReader(answers, options.answer !== undefined);
  const tools = toolRegistry(options.tools ?? []);
  const { predicates = {}, prices, data, context } = options;
  checkDataOfTools(tools.byName, data);
  // A handler gets the data that the agent has, and the context that the host gives.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const given = options.states as States | undefined;
  const wrapped = withWrappers(options.config?.graph ?? defaultAgentConfig.graph, given);
  // Last, so that nothing runs between a check and what it is about.
  const guarded = withGuardrails(
    wrapped.graph,
    checkedGuardrails(options.guardrails),
    Object.keys(given ?? {}),
  );
  const custom = { ...wrapped.states, ...guarded.states };
  const states = handlersOf(custom);
  if (prices !== undefined) checkPrices(prices);
  const config = validateConfig({
    ...withToolSearch(mergeConfig(defaultAgentConfig, options.config ?? {}), tools.definitions),
    ...(options.systemPrompt === undefined ? {} : { systemPrompt: options.systemPrompt }),
    ...(answers === undefined ? {} : { answerSchema: schemaText(answers) }),
    ...(prices === undefined ? {} : { prices }),
    graph: graphWith(guarded.graph, custom),
  });
  checkNames(config, { llm: options.llm, states, predicates, tools: tools.definitions });
  checkModels(config);
  checkEffective(config, data);
  return {
    name: options.name ?? "agent",
    version: options.version ?? "0",
    config,
    tools: tools.definitions,
    runLimits: validateRunLimits(options.runLimits),
    parts: {
      llm: options.llm,
      tools: tools.byName,
      states,
      predicates,
      answerProblem: reader.problem,
      nextCron,
      ...(data === undefined ? {} : { data }),
      ...(context === undefined ? {} : { context }),
    },
    // The type follows from the schema: with `answer` it is the output of `value`, otherwise the text itself.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    answerOf: ((text, schema = config.answerSchema) => reader.value(text, schema)) as Agent<
      AnswerOf<Schema>
    >["answerOf"],
  };
}

/** The configuration, in which the model of an agent with many tools searches for them unless it says how. */
function withToolSearch(config: AgentConfig, tools: Agent["tools"]): AgentConfig {
  const usable = Object.keys(tools).filter((name) => !config.toolCalls.blacklist.includes(name));
  return usable.length > mostTools ? { toolSearch: true, ...config } : config;
}

/** The check of answers against `answer`, or else against the JSON Schema in `config.answerSchema`. */
function answerCheckOf({
  answer,
  config,
}: {
  readonly answer: StandardSchema | JsonObject | undefined;
  readonly config: AgentConfigChange | undefined;
}): AnswerCheck | undefined {
  if (answer !== undefined) return answerCheck(answer, "answer");
  const text = config?.answerSchema ?? undefined;
  return text === undefined ? undefined : configuredCheck(text);
}

function checkedGuardrails(guardrails: readonly Guardrail[] = []): readonly Guardrail[] {
  if (!Array.isArray(guardrails)) refuse("guardrails must be an array of guardrails.");
  return guardrails;
}

/** Throws `BuildError` for a tool whose application data the agent does not have. */
function checkDataOfTools(tools: ReadonlyMap<string, Tool>, data: AnyData | undefined): void {
  for (const { name, data: needed } of tools.values()) {
    if (needed !== undefined && needed !== data)
      refuse(`The tool ${name} uses data that the agent does not have. Give defineAgent the same data.`);
  }
}

/**
 * Returns the state of an agent, or of a session by its header, before its first message. Throws `BuildError` for an invalid
 * agent.
 */
export function initialStateOf(
  agent: Pick<Agent<unknown>, "config" | "tools"> & {
    readonly parts?: Pick<AgentParts, "data">;
    readonly data?: { readonly version: number; readonly initial: Json };
    readonly team?: Team;
  },
): AgentState {
  checkIsAgent("initialStateOf", agent, ["config", "tools"]);
  const { config, tools, data = agent.parts?.data } = agent;
  const known = initialStates.get(config);
  const activeAgent = agent.team?.start;
  const isKnown =
    known?.tools === tools && known.activeAgent === activeAgent && known.data === (data?.initial ?? null);
  if (isKnown && known.dataStatus?.version === data?.version) return known;
  const state = initialAgentState({
    config,
    tools,
    ...(data === undefined ? {} : { data }),
    ...(activeAgent === undefined ? {} : { activeAgent }),
  });
  initialStates.set(config, state);
  return state;
}

/** A cache by the configuration: states are immutable, and merging a configuration takes longer than a step. */
const initialStates = new WeakMap<AgentConfig, AgentState>();
