import type {
  AgentParts,
  ApprovalPredicate,
  OutputOf,
  RunLimits,
  StandardSchema,
  Tool,
} from "@moora/agent-core-effects";
import { refuse, shownValue } from "@moora/agent-core-effects/internal";
import {
  defaultAgentConfig,
  initialAgentState,
  type AgentConfig,
  type AgentConfigChange,
  type AgentState,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import type { JsonObject, LlmCaller } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import { checkAgentOptions } from "./agent-options.ts";
import { answerCheck, type AnswerCheck } from "./answer-check.ts";
import { checkedConfig, checkedRunLimits, mergedConfig, checkModels, checkNames } from "./validate-config.ts";
import { graphWith, handlersOf, type States } from "./custom-states.ts";
import { checkPrices, type PriceList } from "./price-list.ts";
import { toolRegistry } from "./tool-registry.ts";

/** What an agent is made of. Only the model is needed; `config` takes any field of the agent that is data. */
export interface AgentOptions<Schema> {
  readonly llm: LlmCaller;
  /** The tools that the model may call. Default: none. */
  readonly tools?: readonly Tool[];
  readonly systemPrompt?: string;
  /**
   * The schema of answers: a Standard Schema or a JSON Schema. The model reads it, each answer is checked, one that does not
   * fit is asked for again `config.retries.maxAnswerRetries` times, and the answer has the schema's type. Default: any text.
   */
  readonly answer?: Schema;
  readonly config?: AgentConfigChange;
  /** Handlers of the states of `config.graph`, by name. */
  readonly states?: States;
  /** Predicates that an approval policy names. */
  readonly predicates?: Readonly<Record<string, ApprovalPredicate>>;
  /** Limits of the runner. Defaults: 120,000 ms for a tool, 100,000 characters of a result. */
  readonly runLimits?: Partial<RunLimits>;
  /** What models cost: then usage has a cost, and a budget can have a `maxCost`. Takes the place of `config.prices`. */
  readonly prices?: PriceList;
  /** Written into the header of every log; an agent with another name cannot open the session. Default: "agent". */
  readonly name?: string;
  /** The release of your agent. A log records it each time the session is opened. Default: "0". */
  readonly version?: string;
}

/** An agent: a value that every host takes. Its data is `config` and `tools`, its code `parts`. */
export interface Agent<Answer = string> {
  readonly name: string;
  readonly version: string;
  readonly config: AgentConfig;
  readonly tools: Readonly<Record<string, ToolDefinition>>;
  readonly parts: AgentParts;
  readonly runLimits: RunLimits;
  /** The answer in its own type, from the text that the model gave. Rejects for a text that does not fit. */
  answerOf(text: string): Promise<Answer>;
}

type AnswerOf<Schema> = Schema extends StandardSchema | JsonObject ? OutputOf<Schema> : string;

/**
 * Defines an agent. Throws `BuildError`, with the place, the value and the fix, for what can never work: a missing model, an
 * unknown option or field, a limit out of range, a name taken twice, a name that matches no tool, a row that leads nowhere.
 */
export function defineAgent<const Schema extends StandardSchema | JsonObject | undefined = undefined>(
  options: AgentOptions<Schema>,
): Agent<AnswerOf<Schema>> {
  checkAgentOptions(options);
  const answers = answerCheckOf(options);
  const tools = toolRegistry(options.tools ?? []);
  const { predicates = {}, prices } = options;
  const states = handlersOf(options.states);
  if (prices !== undefined) checkPrices(prices);
  const config = checkedConfig({
    ...mergedConfig(defaultAgentConfig, options.config ?? {}),
    ...(options.systemPrompt === undefined ? {} : { systemPrompt: options.systemPrompt }),
    ...(answers === undefined ? {} : { answerSchema: JSON.stringify(answers.json) }),
    ...(prices === undefined ? {} : { prices }),
    graph: graphWith(options.config?.graph ?? defaultAgentConfig.graph, options.states),
  });
  checkNames(config, { states, predicates, tools: tools.definitions });
  checkModels(config);
  return {
    name: options.name ?? "agent",
    version: options.version ?? "0",
    config,
    tools: tools.definitions,
    runLimits: checkedRunLimits(options.runLimits),
    parts: {
      llm: options.llm,
      tools: tools.byName,
      states,
      predicates,
      ...(answers === undefined ? {} : { answerProblem: answers.problem }),
    },
    // The schema decides the type: with `answer` it is what `value` gives, otherwise the text itself.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    answerOf: answerReader(answers, options.answer !== undefined) as Agent<AnswerOf<Schema>>["answerOf"],
  };
}

/** The check of answers: by `answer`, else by the JSON Schema in `config.answerSchema`. */
function answerCheckOf({ answer, config }: AgentOptions<unknown>): AnswerCheck | undefined {
  // The type parameter of the options allows nothing else; `answerCheck` refuses what a host without types gives.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  if (answer !== undefined) return answerCheck(answer as StandardSchema, "answer");
  const text = config?.answerSchema ?? undefined;
  if (text === undefined) return undefined;
  const schema = typeof text === "string" ? textToJson(text) : undefined;
  return isJsonObject(schema)
    ? answerCheck(schema, "config.answerSchema")
    : refuse(`config.answerSchema must be the JSON text of a JSON Schema, got ${shownValue(text)}.`);
}

/** With a schema in `config` alone the answer stays text: its type cannot be known. */
function answerReader(
  answers: AnswerCheck | undefined,
  hasType: boolean,
): (text: string) => Promise<unknown> {
  if (answers === undefined) return (text) => Promise.resolve(text);
  return hasType ? answers.value : (text) => answers.value(text).then(() => text);
}

/** The agent before its first message. */
export const initialStateOf = ({ config, tools }: Pick<Agent<unknown>, "config" | "tools">): AgentState =>
  initialAgentState({ config, tools });
