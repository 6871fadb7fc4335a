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

/** By the name of a model, also for its versions; `default` for all others. */
export const priceListSchema = z.record(z.string(), modelPriceSchema);

/** The prices of a model for a million tokens, in any one unit. Cached input and cache writes default to `input`. */
export type ModelPrice = Immutable<z.infer<typeof modelPriceSchema>>;
/** Prices by the name of a model, also for its versions, such as `gpt-5-2025-08-07`; `default` is for all others. */
export type PriceList = Immutable<z.infer<typeof priceListSchema>>;

/** The price of a model, else of one that it is a version of, else the default price; undefined if there is none. */
export function priceOf(prices: PriceList, model: string): ModelPrice | undefined {
  const isPriced = (name: string): boolean => Object.hasOwn(prices, name);
  const name = [model, ...Object.keys(prices).filter((known) => isVersionOf(model, known)), "default"].find(
    isPriced,
  );
  return name === undefined ? undefined : prices[name];
}

/** A date or a number of a release, and what providers append with `@` or `:`. A word is another model: `gpt-5-mini`. */
const versionSuffix = /^(?:-latest|(?:-\d{2})?-\d{3,}(?:-\d+)*(?:-v\d+)?)?(?:[@:].+)?$/;

/** Whether providers use one name for a version of the model with the other name, in a namespace such as `models/` or without. */
function isVersionOf(model: string, name: string): boolean {
  const inNamespace = model.includes("/") && name.includes("/");
  const [version, whole] = inNamespace ? [model, name] : [nameIn(model), nameIn(name)];
  const base = whole.replace(/-latest$/, "");
  return base !== "" && version.startsWith(base) && versionSuffix.test(version.slice(base.length));
}

const nameIn = (model: string): string => model.slice(model.lastIndexOf("/") + 1);

/** The cost of tokens at a price, in the unit of the price list. */
export function costAt(price: ModelPrice, usage: Omit<AgentUsage, "cost" | "reasoningTokens">): number {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = usage;
  // Some servers count cached tokens beside the input.
  const plain = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
  const sum =
    plain * price.input +
    cachedInputTokens * (price.cachedInput ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    outputTokens * price.output;
  return sum / 1_000_000;
}
