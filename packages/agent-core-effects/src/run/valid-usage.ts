import type { AgentUsage, UsageReport } from "@moora/agent-core-state-machine";
import type { LlmUsage } from "@moora/llm";

/** Invalid amounts count as 0: a bad usage report must not lose the result. */
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

/** The usage that a tool reports, without invalid amounts; undefined if nothing is left. */
export function validUsage(usage: UsageReport | undefined): UsageReport | undefined {
  if (usage === undefined) return undefined;
  const counted = withoutZeros({ ...validTokens(usage), cost: amount(usage.cost) });
  return Object.keys(counted).length === 0 ? undefined : counted;
}
