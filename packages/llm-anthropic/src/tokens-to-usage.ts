import type { MessageDeltaUsage, Usage } from "@anthropic-ai/sdk/resources/messages";
import type { LlmUsage } from "@moora/llm";
import { countsToUsage, type ReportedCounts } from "@moora/llm/adapter";

/** The counts of one event. Gateways leave some of them out. */
export const tokensToCounts = (tokens: Partial<Usage | MessageDeltaUsage>): ReportedCounts => ({
  inputTokens: tokens.input_tokens,
  cachedInputTokens: tokens.cache_read_input_tokens,
  cacheWriteTokens: tokens.cache_creation_input_tokens,
  outputTokens: tokens.output_tokens,
  reasoningTokens: tokens.output_tokens_details?.thinking_tokens,
});

/** Converts the API's counts, which are separate for new, cached and cache-written input. */
export function separateToUsage(counts: ReportedCounts): LlmUsage | undefined {
  const usage = countsToUsage(counts);
  if (usage === undefined) return undefined;
  const { inputTokens, cachedInputTokens, cacheWriteTokens } = usage;
  return { ...usage, inputTokens: inputTokens + cachedInputTokens + cacheWriteTokens };
}
