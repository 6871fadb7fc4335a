import {
  defaultRunLimits,
  type ApprovalPredicate,
  type RunLimits,
  type StateHandler,
} from "@moora/agent-core-effects";
import {
  agentConfigSchema,
  defaultAgentConfig,
  graphProblems,
  jsonCopy,
  type AgentConfig,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import { AgentError } from "./agent-error.ts";
import type { PriceList } from "./price-list.ts";

/** The configuration as a copy that nobody else holds. Throws `BuildError` for what no log keeps, and for what can never work. */
export function checkedConfig(config: AgentConfig): AgentConfig {
  const unknown = Object.keys(config).find((name) => !Object.hasOwn(defaultAgentConfig, name));
  if (unknown !== undefined) refuse(`config.${unknown}: there is no such field.`);
  const copied = jsonCopy(config);
  if ("problem" in copied) return refuse(`config.${copied.problem.path}: ${copied.problem.message}`);
  const parsed = agentConfigSchema.safeParse(copied.copy);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refuse(`config.${issue?.path.join(".") ?? ""}: ${issue?.message ?? "wrong"}`);
  }
  const [problem] = graphProblems(parsed.data.graph);
  return problem === undefined ? parsed.data : refuse(problem);
}

/** What the configuration names has to be there: handlers, predicates, the tool that must be called. */
export function checkNames(
  { graph, approval: { policy }, toolChoice }: AgentConfig,
  code: {
    readonly states: Readonly<Record<string, StateHandler>>;
    readonly predicates: Readonly<Record<string, ApprovalPredicate>>;
    readonly tools: Readonly<Record<string, ToolDefinition>>;
  },
): void {
  const { states, predicates, tools } = code;
  for (const name of graph.states)
    if (!graph.terminals.includes(name) && !Object.hasOwn(states, name))
      refuse(`The state ${name} has no handler.`);
  for (const name of Object.keys(states))
    if (!graph.states.includes(name))
      refuse(`A handler is given for ${name}, which is no state of the graph.`);
  if (typeof policy !== "string" && "predicate" in policy && !Object.hasOwn(predicates, policy.predicate))
    refuse(`The approval policy names the predicate ${policy.predicate}, which is not given.`);
  if (typeof toolChoice !== "string" && !Object.hasOwn(tools, toolChoice.name))
    refuse(`The model has to call the tool ${toolChoice.name}, which is not given.`);
}

/** Longer results than this would not fit a record of a log. */
const longestResult = 8_000_000;

/** Whole positive numbers. Throws `BuildError` for any other. */
export function checkedLimits(given: Partial<RunLimits> = {}): RunLimits {
  const limits = { ...defaultRunLimits, ...given };
  for (const [name, limit] of Object.entries(limits))
    if (!Number.isSafeInteger(limit) || limit < 1)
      refuse(`limits.${name}: ${String(limit)} is no whole number above 0.`);
  if (limits.maxResultLength > longestResult)
    refuse(`limits.maxResultLength: at most ${longestResult} characters fit a log.`);
  return limits;
}

/** Throws `BuildError` for a price that is no amount: a budget could never be counted with it. */
export function checkPrices(prices: PriceList): void {
  for (const [model, price] of Object.entries(prices))
    for (const [name, amount] of Object.entries(price))
      if (!Number.isFinite(amount) || amount < 0)
        refuse(`prices.${model}.${name}: ${String(amount)} is no price.`);
}

function refuse(message: string): never {
  throw new AgentError("BuildError", message);
}
