import {
  defaultRunLimits,
  schemaCheckOf,
  type AgentParts,
  type ApprovalPredicate,
  type OutputOf,
  type RunLimits,
  type SchemaCheck,
  type StandardSchema,
  type StateHandler,
  type Tool,
} from "@moora/agent-core-effects";
import {
  agentConfigSchema,
  defaultAgentConfig,
  graphProblems,
  initialAgentState,
  type AgentConfig,
  type AgentState,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import type { JsonObject, LlmCaller } from "@moora/llm";
import { AgentError } from "./agent-error.ts";
import { costOf, type PriceList } from "./price-list.ts";
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
  readonly states?: Readonly<Record<string, StateHandler>>;
  readonly predicates?: Readonly<Record<string, ApprovalPredicate>>;
  readonly limits?: Partial<RunLimits>;
  readonly prices?: PriceList;
  /** Written into the header of every log. Default: "agent", "0". */
  readonly name?: string;
  readonly version?: string;
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
  });
  const { states = {}, predicates = {}, prices } = options;
  checkCode(config, states, predicates);
  return {
    name: options.name ?? "agent",
    version: options.version ?? "0",
    config,
    tools: tools.definitions,
    limits: { ...defaultRunLimits, ...options.limits },
    parts: {
      llm: options.llm,
      tools: tools.byName,
      states,
      predicates,
      ...(answers === undefined ? {} : { answerProblem: answers.problem }),
      ...(prices === undefined ? {} : { costOf: (model, usage) => costOf(prices, model, usage) }),
    },
    // The schema decides the type: with one it is what `value` gives, without one it is the text itself.
    answerOf: (answers?.value ?? ((text: string) => Promise.resolve(text))) as Agent<
      AnswerOf<Schema>
    >["answerOf"],
  };
}

/** The agent before its first message. */
export const initialStateOf = ({ config, tools }: Pick<Agent<unknown>, "config" | "tools">): AgentState =>
  initialAgentState({ config, tools });

function checkedConfig(config: AgentConfig): AgentConfig {
  const unknown = Object.keys(config).find((name) => !Object.hasOwn(defaultAgentConfig, name));
  if (unknown !== undefined) throw new AgentError("BuildError", `config.${unknown}: there is no such field.`);
  const parsed = agentConfigSchema.safeParse(config);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new AgentError("BuildError", `config.${issue?.path.join(".") ?? ""}: ${issue?.message ?? "wrong"}`);
  }
  const [problem] = graphProblems(parsed.data.graph);
  if (problem !== undefined) throw new AgentError("BuildError", problem);
  return parsed.data;
}

function checkCode(
  { graph, approval: { policy } }: AgentConfig,
  states: Readonly<Record<string, StateHandler>>,
  predicates: Readonly<Record<string, ApprovalPredicate>>,
): void {
  for (const name of graph.states)
    if (!graph.terminals.includes(name) && !Object.hasOwn(states, name))
      throw new AgentError("BuildError", `The state ${name} has no handler.`);
  for (const name of Object.keys(states))
    if (!graph.states.includes(name))
      throw new AgentError("BuildError", `A handler is given for ${name}, which is no state of the graph.`);
  if (typeof policy !== "string" && "predicate" in policy && !Object.hasOwn(predicates, policy.predicate))
    throw new AgentError(
      "BuildError",
      `The approval policy names the predicate ${policy.predicate}, which is not given.`,
    );
}

interface AnswerCheck {
  readonly json: JsonObject;
  problem(text: string): string | undefined | Promise<string | undefined>;
  value(text: string): Promise<unknown>;
}

function answerCheck(schema: StandardSchema | JsonObject): AnswerCheck {
  const check: SchemaCheck<unknown> = schemaCheckOf(schema, undefined);
  const checked = (text: string): ReturnType<typeof check.check> => {
    try {
      return check.check(JSON.parse(text));
    } catch {
      return { ok: false, problem: "It is not JSON." };
    }
  };
  return {
    json: check.json,
    problem(text) {
      const result = checked(text);
      if (result instanceof Promise) return result.then((it) => (it.ok ? undefined : it.problem));
      return result.ok ? undefined : result.problem;
    },
    async value(text) {
      const result = await checked(text);
      if (result.ok) return result.value;
      throw new AgentError("AgentFailed", `The answer does not fit its schema: ${result.problem}`, {
        reason: "AnswerInvalid",
      });
    },
  };
}
