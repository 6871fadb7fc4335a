import type { AgentConfig } from "./agent-config.ts";
import type { Budget } from "./config-parts.ts";
import { callFlags, openCallsWith } from "./collections/open-call-list.ts";
import { modelFor } from "./model-for.ts";
import { priceOf } from "./prices.ts";
import type { OpenCall } from "./control/control.ts";
import type { AgentState, ReActContext } from "./state.ts";
import { totalTokens, type Spending } from "./usage.ts";

type Spender = Pick<AgentState, "config" | "usage" | "reActContext">;

/**
 * The remaining budget: the smaller of the amounts left to the loop and to the conversation, minus the reservations of calls that are
 * open or have not reported their usage. Undefined without a limit. A kind of spending without a limit has no amount.
 */
export const budgetLeftAt = (state: Spender): Spending | undefined =>
  leftBeside(state, state.reActContext.lateReservations);

function leftBeside(
  { config: { budget }, usage, reActContext }: Spender,
  late: ReActContext["lateReservations"] = [],
): Spending | undefined {
  if (!isLimited(budget)) return undefined;
  const loop = reActContext.usage;
  const reserved = reservedBy([...openCallsWith(reActContext.control, callFlags.reserved), ...late]);
  const tokens = smallest(
    left(budget.maxTokens, totalTokens(loop) + reserved.tokens),
    left(budget.maxTotalTokens, totalTokens(usage) + reserved.tokens),
  );
  const cost = smallest(
    left(budget.maxCost, (loop.cost ?? 0) + reserved.cost),
    left(budget.maxTotalCost, (usage.cost ?? 0) + reserved.cost),
  );
  return spendingOf(tokens, cost);
}

const isLimited = ({ maxTokens, maxTotalTokens, maxCost, maxTotalCost }: Budget): boolean =>
  maxTokens !== undefined ||
  maxTotalTokens !== undefined ||
  maxCost !== undefined ||
  maxTotalCost !== undefined;

/** What counts for each limit of a budget. */
const spentFor: Readonly<Record<Exclude<keyof Budget, "warnAt">, (state: Spender) => number>> = {
  maxTokens: ({ reActContext }) => totalTokens(reActContext.usage),
  maxInputTokens: ({ reActContext }) => reActContext.usage.inputTokens,
  maxOutputTokens: ({ reActContext }) => reActContext.usage.outputTokens,
  maxCost: ({ reActContext }) => reActContext.usage.cost ?? 0,
  maxTotalTokens: ({ usage }) => totalTokens(usage),
  maxTotalCost: ({ usage }) => usage.cost ?? 0,
};

/** A limit of the budget, and what was spent of it. */
export interface SpentLimit {
  readonly name: keyof typeof spentFor;
  readonly limit: number;
  readonly spent: number;
}

/** The limits of the budget of which this part is spent. Default: those that are reached. */
export function spentLimitsAt(state: Spender, part: number = 1): readonly SpentLimit[] {
  const { budget } = state.config;
  const found: SpentLimit[] = [];
  let name: SpentLimit["name"];
  for (name in spentFor) {
    const limit = budget[name];
    if (limit === undefined) continue;
    const spent = spentFor[name](state);
    if (spent >= limit * part) found.push({ name, limit, spent });
  }
  return found;
}

/** Whether a limit of the budget is reached, so that no more model calls are made. */
export const budgetExceeded = (state: Spender): boolean => spentLimitsAt(state).length > 0;

/** Whether `warnAt` of a limit is spent. */
export function isNearlySpent(state: Spender): boolean {
  const { warnAt } = state.config.budget;
  return warnAt !== undefined && spentLimitsAt(state, warnAt).length > 0;
}

/** Whether a limited amount is used up. */
export const isSpent = ({ tokens, cost }: Spending): boolean => tokens === 0 || cost === 0;

/** The reservation of a call: the smaller of its own limit and the remaining budget, for each kind of spending. */
export function reservationOf(own: Spending, remaining: Spending): Spending {
  const tokens = remaining.tokens === undefined ? undefined : smallest(own.tokens, remaining.tokens);
  const cost = remaining.cost === undefined ? undefined : smallest(own.cost, remaining.cost);
  return spendingOf(tokens, cost);
}

/** The budget of an agent, lowered to what its caller may spend. */
export function cappedBudget(budget: Budget, { tokens, cost }: Spending): AgentConfig["budget"] {
  const maxTokens = smallest(budget.maxTokens, tokens === undefined ? undefined : Math.floor(tokens));
  const maxCost = smallest(budget.maxCost, cost);
  return {
    ...budget,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxCost === undefined ? {} : { maxCost }),
  };
}

/** In tokens. Every model accepts a limit up to this number; some refuse a larger one. */
const alwaysPossible = 8_192;

/** In tokens. Providers refuse a smaller limit. */
const smallestAnswer = 16;

/**
 * The limit of the next answer of a task type, in tokens: what the budget leaves, if that is less than `maxOutputTokens` of the settings,
 * or less than 8,192 without that setting; null if the budget does not limit the answer. What late calls have reserved is not for other
 * calls, but does not shorten an answer.
 */
export function outputLimitAt(state: Spender, taskType: string): number | null {
  const { config } = state;
  const remaining = leftBeside(state);
  const ofOutput = left(config.budget.maxOutputTokens, state.reActContext.usage.outputTokens);
  if (remaining === undefined && ofOutput === undefined) return null;
  const affordable = remaining?.cost === undefined ? undefined : tokensFor(remaining.cost, config, taskType);
  const limit = smallest(smallest(remaining?.tokens, affordable), ofOutput);
  const { maxOutputTokens } = config.settings;
  const most = typeof maxOutputTokens === "number" ? maxOutputTokens : alwaysPossible;
  if (limit === undefined || limit >= most) return null;
  return Math.max(smallestAnswer, limit);
}

/** The output tokens that a cost pays for; undefined for a model that has no price, or whose output is free. */
function tokensFor(cost: number, config: AgentConfig, taskType: string): number | undefined {
  const price = priceOf(config.prices, modelFor(config, taskType));
  return price === undefined || price.output === 0
    ? undefined
    : Math.floor((cost * 1_000_000) / price.output);
}

function reservedBy(calls: readonly Pick<OpenCall, "reserved">[]): { tokens: number; cost: number } {
  const sum = { tokens: 0, cost: 0 };
  for (const { reserved } of calls) {
    sum.tokens += reserved?.tokens ?? 0;
    sum.cost += reserved?.cost ?? 0;
  }
  return sum;
}

const spendingOf = (tokens: number | undefined, cost: number | undefined): Spending => ({
  ...(tokens === undefined ? {} : { tokens }),
  ...(cost === undefined ? {} : { cost }),
});

const left = (most: number | undefined, spent: number): number | undefined =>
  most === undefined ? undefined : Math.max(0, most - spent);

const smallest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
