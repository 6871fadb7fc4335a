import type { LlmUsage } from "@moora/llm";

/** Prices of one model for a million tokens, in any one unit. Cached input and cache writes default to input. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
}

/**
 * By model, as the provider names the one that answered, else as it was asked for; `default` for all others. Without a
 * price a call costs nothing.
 */
export type PriceList = Readonly<Record<string, ModelPrice>>;

export function costOf(
  prices: PriceList,
  model: string,
  usage: LlmUsage,
  askedModel: string = model,
): number {
  const name = [model, askedModel, "default"].find((candidate) => Object.hasOwn(prices, candidate));
  const price = name === undefined ? undefined : prices[name];
  if (price === undefined) return 0;
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = usage;
  const plain = inputTokens - cachedInputTokens - cacheWriteTokens;
  const sum =
    plain * price.input +
    cachedInputTokens * (price.cachedInput ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    outputTokens * price.output;
  return sum / 1_000_000;
}
