import type { Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";

/** The tokens of model calls, and their cost if there are prices. `inputTokens` includes cached input. */
export const usageSchema = z.object({
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  cacheWriteTokens: z.number(),
  outputTokens: z.number(),
  reasoningTokens: z.number(),
  cost: z.exactOptional(z.number()),
});

/** The usage of model calls: tokens by kind, and the cost if prices are known. */
export type AgentUsage = Immutable<z.infer<typeof usageSchema>>;

/** The usage of one call, as an input reports it. A missing amount is zero. */
export const usageReportSchema = z.object({
  inputTokens: z.exactOptional(z.number()),
  cachedInputTokens: z.exactOptional(z.number()),
  cacheWriteTokens: z.exactOptional(z.number()),
  outputTokens: z.exactOptional(z.number()),
  reasoningTokens: z.exactOptional(z.number()),
  cost: z.exactOptional(z.number()),
  /** The provider did not report its usage: these amounts are an estimate by the sizes of the request and the answer. */
  estimated: z.exactOptional(z.literal(true)),
});

/** The usage that work reports. A missing amount counts as 0. */
export type UsageReport = Immutable<z.infer<typeof usageReportSchema>>;

/** An amount that may be spent or is reserved. Without a limit there is no amount. */
export const spendingSchema = z.object({
  tokens: z.exactOptional(z.number()),
  cost: z.exactOptional(z.number()),
});

/** An amount of tokens, of cost, or of both, that may be spent or is reserved. Without a limit there is no amount. */
export type Spending = Immutable<z.infer<typeof spendingSchema>>;

/** The usage before the first model call: zero tokens. */
export const noAgentUsage: AgentUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cost: 0,
};

/** Whether anything was used. */
export const hasUsage = (usage: AgentUsage): boolean => Object.values(usage).some((amount) => amount !== 0);

/** Adds a report to a usage. Returns a new object. */
export const addAgentUsage = (a: AgentUsage, b: UsageReport): AgentUsage => ({
  inputTokens: sum(a.inputTokens, b.inputTokens),
  cachedInputTokens: sum(a.cachedInputTokens, b.cachedInputTokens),
  cacheWriteTokens: sum(a.cacheWriteTokens, b.cacheWriteTokens),
  outputTokens: sum(a.outputTokens, b.outputTokens),
  reasoningTokens: sum(a.reasoningTokens, b.reasoningTokens),
  cost: sum(a.cost, b.cost),
});

/** JSON has no Infinity. */
const sum = (a: number = 0, b: number = 0): number => Math.min(a + b, Number.MAX_VALUE);

/** The sum of input and output tokens. */
export const totalTokens = (usage: AgentUsage): number => usage.inputTokens + usage.outputTokens;
