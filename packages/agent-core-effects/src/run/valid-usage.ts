import type { AgentUsage, UsageReport } from "@moora/agent-core-state-machine";
import type { LlmUsage } from "@moora/llm";

/** A valid amount. An invalid one counts as 0, so that an invalid usage report does not lose the result. */
export const amount = (value: number | undefined): number =>
  value !== undefined && Number.isFinite(value) && value > 0 ? value : 0;

export const validTokens = (usage: Partial<LlmUsage>): LlmUsage => ({
  inputTokens: amount(usage.inputTokens),
  cachedInputTokens: amount(usage.cachedInputTokens),
  cacheWriteTokens: amount(usage.cacheWriteTokens),
  outputTokens: amount(usage.outputTokens),
  reasoningTokens: amount(usage.reasoningTokens),
});

/** The usage without amounts that are zero, which keeps logs short. */
export const withoutZeros = (usage: AgentUsage): UsageReport =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== 0));

/** The usage that a tool reports, without invalid amounts; undefined if no amount is left. */
export function validUsage(usage: UsageReport | undefined): UsageReport | undefined {
  if (usage === undefined) return undefined;
  const counted = withoutZeros({ ...validTokens(usage), cost: amount(usage.cost) });
  return Object.keys(counted).length === 0 ? undefined : counted;
}
