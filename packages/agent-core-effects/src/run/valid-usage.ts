import type { AgentUsage, UsageReport } from "@moora/agent-core-state-machine";
import type { LlmUsage } from "@moora/llm";
import { isTokenCount } from "@moora/llm/internal";

/** A valid amount. An invalid one counts as 0, so that an invalid usage report does not lose the result. */
export const amount = (value: number | undefined): number => (isTokenCount(value) ? value : 0);

export const validTokens = (usage: Partial<LlmUsage>): LlmUsage => ({
  inputTokens: amount(usage.inputTokens),
  cachedInputTokens: amount(usage.cachedInputTokens),
  cacheWriteTokens: amount(usage.cacheWriteTokens),
  outputTokens: amount(usage.outputTokens),
  reasoningTokens: amount(usage.reasoningTokens),
});

/** The usage without amounts that are zero, which keeps logs short. */
export function withoutZeros(usage: AgentUsage): UsageReport {
  const counted: { -readonly [Name in keyof UsageReport]: UsageReport[Name] } = {};
  for (const name of amounts) {
    const value = usage[name];
    if (value !== undefined && value !== 0) counted[name] = value;
  }
  return counted;
}

const amounts = [
  "inputTokens",
  "cachedInputTokens",
  "cacheWriteTokens",
  "outputTokens",
  "reasoningTokens",
  "cost",
] as const satisfies readonly (keyof AgentUsage)[];

/** The usage that a tool reports, without invalid amounts; undefined if no amount is left. */
export function validUsage(usage: UsageReport | undefined): UsageReport | undefined {
  if (usage === undefined) return undefined;
  const counted = withoutZeros({ ...validTokens(usage), cost: amount(usage.cost) });
  return Object.keys(counted).length === 0 ? undefined : counted;
}
