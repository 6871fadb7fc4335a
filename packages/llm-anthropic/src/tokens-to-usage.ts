import type { MessageDeltaUsage, Usage } from "@anthropic-ai/sdk/resources/messages";
import type { LlmUsage } from "@moora/llm";

/** The token counts that the events of one message report. */
export type Tokens = Partial<Pick<Usage & MessageDeltaUsage, TokenField>>;
type TokenField =
  | "input_tokens"
  | "output_tokens"
  | "cache_creation_input_tokens"
  | "cache_read_input_tokens"
  | "output_tokens_details";

/** Merges the counts of a later event. Counts are cumulative; a count of null does not change the previous one. */
export const withTokens = (tokens: Tokens | undefined, counts: object): Tokens => ({
  ...tokens,
  ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== null)),
});

/** Converts the API's counts, which are separate for new, cached and cache-written input. */
export function tokensToUsage(tokens: Tokens): LlmUsage {
  const cachedInputTokens = tokens.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = tokens.cache_creation_input_tokens ?? 0;
  return {
    inputTokens: (tokens.input_tokens ?? 0) + cachedInputTokens + cacheWriteTokens,
    cachedInputTokens,
    cacheWriteTokens,
    outputTokens: tokens.output_tokens ?? 0,
    reasoningTokens: tokens.output_tokens_details?.thinking_tokens ?? 0,
  };
}
