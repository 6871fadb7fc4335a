import type { AgentState } from "@moora/agent";
import { isObject } from "@moora/agent-core-effects/internal";

/** What was used. `cost` is 0 where no price is known. */
export interface EvalUsage {
  /** Input and output tokens. */
  readonly tokens: number;
  readonly cost: number;
}

export const noUsage: EvalUsage = { tokens: 0, cost: 0 };

const isAmount = (value: unknown): boolean => typeof value === "number" && value >= 0 && value < Infinity;

/** Whether a value counts: with NaN no budget would ever be used up. */
export const isUsage = (value: unknown): value is EvalUsage =>
  isObject(value) && isAmount(value["tokens"]) && isAmount(value["cost"]);

export const addUsage = (a: EvalUsage, b: EvalUsage, sign: 1 | -1 = 1): EvalUsage => ({
  tokens: a.tokens + sign * b.tokens,
  cost: a.cost + sign * b.cost,
});

/** What a session has used, since it was in the state `start`. */
export function usageOf({ usage }: AgentState, start?: AgentState): EvalUsage {
  const all = { tokens: usage.inputTokens + usage.outputTokens, cost: usage.cost ?? 0 };
  return start === undefined ? all : addUsage(all, usageOf(start), -1);
}
