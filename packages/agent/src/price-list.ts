import { refuse, required, shownValue } from "@moora/agent-core-effects/internal";
import type { ModelPrice } from "@moora/agent-core-state-machine";
import { checkOptions, isObject, type OptionForms } from "./check-options.ts";

export type { ModelPrice, PriceList } from "@moora/agent-core-state-machine";

const forms: OptionForms<ModelPrice> = {
  input: required("amount"),
  output: required("amount"),
  cachedInput: "amount",
  cacheWrite: "amount",
};

const example = '{ "gpt-5.5": { input: 2, output: 8 } }';

/** Throws `BuildError`, with the path, for a price list that cannot be used. */
export function checkPrices(prices: unknown): void {
  if (!isObject(prices))
    return refuse(`prices must be an object such as ${example}, got ${shownValue(prices)}.`);
  if (Object.keys(prices).length === 0)
    refuse(`prices is empty. Name at least one model, as in ${example}, or leave it out.`);
  for (const [model, price] of Object.entries(prices))
    checkOptions(`prices.${model}`, price, forms, { placeOf: (path) => `prices.${model}.${path}` });
}
