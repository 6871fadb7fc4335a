import type { AgentUsage, UsageReport } from "@moora/agent-core-state-machine";
import type { LlmUsage } from "@moora/llm";

/** A number that is no amount counts as nothing: what came of the work is worth more than its bill. */
export const amount = (value: number | undefined): number =>
  value !== undefined && Number.isFinite(value) && value > 0 ? value : 0;

export const validTokens = (usage: Partial<LlmUsage>): LlmUsage => ({
  inputTokens: amount(usage.inputTokens),
  cachedInputTokens: amount(usage.cachedInputTokens),
  cacheWriteTokens: amount(usage.cacheWriteTokens),
  outputTokens: amount(usage.outputTokens),
  reasoningTokens: amount(usage.reasoningTokens),
});

/** A log is read for years: what is nothing need not stand in it. */
export const withoutZeros = (usage: AgentUsage): UsageReport =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== 0));

/** What a tool says that it used, as an input tells it; undefined where it is nothing. */
export function validUsage(usage: UsageReport | undefined): UsageReport | undefined {
  if (usage === undefined) return undefined;
  const counted = withoutZeros({ ...validTokens(usage), cost: amount(usage.cost) });
  return Object.keys(counted).length === 0 ? undefined : counted;
}
