import type { Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";

/** Tokens of model calls, and their cost where the host has a price list. Input counts cached input too. */
export const usageSchema = z.object({
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  cacheWriteTokens: z.number(),
  outputTokens: z.number(),
  reasoningTokens: z.number(),
  cost: z.exactOptional(z.number()),
});

export type AgentUsage = Immutable<z.infer<typeof usageSchema>>;

export const noAgentUsage: AgentUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cost: 0,
};

export const addAgentUsage = (a: AgentUsage, b: AgentUsage): AgentUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
  cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  cost: (a.cost ?? 0) + (b.cost ?? 0),
});

export const totalTokens = (usage: AgentUsage): number => usage.inputTokens + usage.outputTokens;
