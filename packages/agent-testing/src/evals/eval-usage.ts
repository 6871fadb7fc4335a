import type { AgentState } from "@moora/agent";

/** What was used. `cost` is 0 where no price is known. */
export interface EvalUsage {
  /** Input and output tokens. */
  readonly tokens: number;
  readonly cost: number;
}

export const noUsage: EvalUsage = { tokens: 0, cost: 0 };

export const addUsage = (a: EvalUsage, b: EvalUsage, sign: 1 | -1 = 1): EvalUsage => ({
  tokens: a.tokens + sign * b.tokens,
  cost: a.cost + sign * b.cost,
});

/** What a session has used, since it was in the state `start`. */
export function usageOf({ usage }: AgentState, start?: AgentState): EvalUsage {
  const all = { tokens: usage.inputTokens + usage.outputTokens, cost: usage.cost ?? 0 };
  return start === undefined ? all : addUsage(all, usageOf(start), -1);
}
