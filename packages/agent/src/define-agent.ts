import type {
  AgentParts,
  ApprovalPredicate,
  OutputOf,
  RunLimits,
  StandardSchema,
  StateHandler,
  Tool,
} from "@moora/agent-core-effects";
import {
  defaultAgentConfig,
  initialAgentState,
  type AgentConfig,
  type AgentState,
  type ControlGraph,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import type { JsonObject, LlmCaller } from "@moora/llm";
import { answerCheck } from "./answer-check.ts";
import { checkedConfig, checkedLimits, checkNames, checkPrices } from "./checked-config.ts";
import type { PriceList } from "./price-list.ts";
import { toolRegistry } from "./tool-registry.ts";

/** What an agent is made of. Only the model is needed; `config` takes any field of the agent that is data. */
export interface AgentOptions<Schema> {
  readonly llm: LlmCaller;
  readonly tools?: readonly Tool[];
  readonly systemPrompt?: string;
  /** A schema for answers: the model is held to it, and the answer has its type. Default: text. */
  readonly answer?: Schema;
  readonly config?: Partial<AgentConfig>;
  /** What code the agent has beside its tools: handlers of its own states, predicates of its approval policy. */
  readonly states?: Readonly<Record<string, StateHandler | StateDefinition>>;
  readonly predicates?: Readonly<Record<string, ApprovalPredicate>>;
  readonly limits?: Partial<RunLimits>;
  readonly prices?: PriceList;
  /** Written into the header of every log. Default: "agent", "0". */
  readonly name?: string;
  readonly version?: string;
}

/** A custom state's handler with what may happen to it after a crash. */
export interface StateDefinition {
  /**
   * `safe` and `keyed` run again after a crash, `keyed` because it passes its `idempotencyKey` on; `once` never does: the
   * event `HandlerInterrupted` leaves the state, and without a row for it the loop ends in Error. Default: `once`.
   */
  readonly replay?: ToolDefinition["replay"];
  readonly handle: StateHandler;
}

/** An agent: a value that every host takes. Its data is `config` and `tools`, its code `parts`. */
export interface Agent<Answer = string> {
  readonly name: string;
  readonly version: string;
  readonly config: AgentConfig;
  readonly tools: Readonly<Record<string, ToolDefinition>>;
  readonly parts: AgentParts;
  readonly limits: RunLimits;
  /** The answer in its own type, from the text that the model gave. Rejects for a text that does not fit. */
  answerOf(text: string): Promise<Answer>;
}

type AnswerOf<Schema> = Schema extends StandardSchema | JsonObject ? OutputOf<Schema> : string;

/** Throws `BuildError` for what can never work: a bad limit, a name taken twice, a row that leads nowhere. */
export function defineAgent<const Schema extends StandardSchema | JsonObject | undefined = undefined>(
  options: AgentOptions<Schema>,
): Agent<AnswerOf<Schema>> {
  const answers = options.answer === undefined ? undefined : answerCheck(options.answer);
  const tools = toolRegistry(options.tools ?? []);
  const config = checkedConfig({
    ...defaultAgentConfig,
    ...options.config,
    ...(options.systemPrompt === undefined ? {} : { systemPrompt: options.systemPrompt }),
    ...(answers === undefined ? {} : { answerSchema: JSON.stringify(answers.json) }),
    ...(options.prices === undefined ? {} : { prices: options.prices }),
    graph: graphOf(options),
  });
  const { predicates = {}, prices } = options;
  const states = handlersOf(options.states);
  checkNames(config, { states, predicates, tools: tools.definitions });
  if (prices !== undefined) checkPrices(prices);
  return {
    name: options.name ?? "agent",
    version: options.version ?? "0",
    config,
    tools: tools.definitions,
    limits: checkedLimits(options.limits),
    parts: {
      llm: options.llm,
      tools: tools.byName,
      states,
      predicates,
      ...(answers === undefined ? {} : { answerProblem: answers.problem }),
    },
    // The schema decides the type: with one it is what `value` gives, without one it is the text itself.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    answerOf: (answers?.value ?? ((text: string) => Promise.resolve(text))) as Agent<
      AnswerOf<Schema>
    >["answerOf"],
  };
}

type States = AgentOptions<unknown>["states"];

const handlersOf = (states: States = {}): Readonly<Record<string, StateHandler>> =>
  Object.fromEntries(
    Object.entries(states).map(([name, state]) => [name, typeof state === "function" ? state : state.handle]),
  );

/** The control graph with the replay policies of its states. */
function graphOf({ config, states = {} }: Pick<AgentOptions<unknown>, "config" | "states">): ControlGraph {
  const graph = config?.graph ?? defaultAgentConfig.graph;
  const replay = Object.fromEntries(
    Object.entries(states).flatMap(([name, state]) =>
      typeof state === "function" || state.replay === undefined ? [] : [[name, state.replay]],
    ),
  );
  return Object.keys(replay).length === 0 ? graph : { ...graph, replay: { ...graph.replay, ...replay } };
}

/** The agent before its first message. */
export const initialStateOf = ({ config, tools }: Pick<Agent<unknown>, "config" | "tools">): AgentState =>
  initialAgentState({ config, tools });
