import type { Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";
import type { AgentUsage } from "./usage.ts";

const amount = z.number().check(z.nonnegative());

/** Prices of one model for a million tokens, in any one unit. Cached input and cache writes default to `input`. */
export const modelPriceSchema = z.object({
  input: amount,
  output: amount,
  cachedInput: z.exactOptional(amount),
  cacheWrite: z.exactOptional(amount),
});

/** By the name of the model that answered, else by the name it was asked for; `default` for all others. */
export const priceListSchema = z.record(z.string(), modelPriceSchema);

/** The prices of a model for a million tokens, in any one unit. Cached input and cache writes default to `input`. */
export type ModelPrice = Immutable<z.infer<typeof modelPriceSchema>>;
/** Prices by the name of the model that answered, else by the name that was asked for; `default` is for all others. */
export type PriceList = Immutable<z.infer<typeof priceListSchema>>;

/** The price of the first of these names that has one; else the default price; undefined if there is none. */
export function priceOf(prices: PriceList, ...models: readonly string[]): ModelPrice | undefined {
  const name = [...models, "default"].find((model) => Object.hasOwn(prices, model));
  return name === undefined ? undefined : prices[name];
}

/** The cost of tokens at a price, in the unit of the price list. */
export function costAt(price: ModelPrice, usage: Omit<AgentUsage, "cost" | "reasoningTokens">): number {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = usage;
  const plain = inputTokens - cachedInputTokens - cacheWriteTokens;
  const sum =
    plain * price.input +
    cachedInputTokens * (price.cachedInput ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    outputTokens * price.output;
  return sum / 1_000_000;
}
