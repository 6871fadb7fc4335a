import { totalTokens, type AgentConfig, type AgentState } from "@moora/agent-core-state-machine";

/** What may still be spent. Without a limit there is no amount. */
export interface BudgetLeft {
  readonly tokens?: number;
  readonly cost?: number;
}

/** What the limits of a state leave, of its loop and in total the smaller; undefined where it has none. */
export function budgetLeftAt({
  config: { budget },
  usage,
  reActContext,
}: AgentState): BudgetLeft | undefined {
  const loop = reActContext.usage;
  const tokens = smallest(
    left(budget.maxTokens, totalTokens(loop)),
    left(budget.maxTotalTokens, totalTokens(usage)),
  );
  const cost = smallest(left(budget.maxCost, loop.cost ?? 0), left(budget.maxTotalCost, usage.cost ?? 0));
  if (tokens === undefined && cost === undefined) return undefined;
  return { ...(tokens === undefined ? {} : { tokens }), ...(cost === undefined ? {} : { cost }) };
}

/** A budget that is, for a loop, no more than what somebody else has left. */
export function cappedBudget(
  budget: AgentConfig["budget"],
  { tokens, cost }: BudgetLeft,
): AgentConfig["budget"] {
  const maxTokens = smallest(budget.maxTokens, tokens === undefined ? undefined : Math.floor(tokens));
  const maxCost = smallest(budget.maxCost, cost);
  return {
    ...budget,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxCost === undefined ? {} : { maxCost }),
  };
}

const left = (most: number | undefined, spent: number): number | undefined =>
  most === undefined ? undefined : Math.max(0, most - spent);

const smallest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
