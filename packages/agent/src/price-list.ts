import { didYouMean, refuse, shownValue } from "@moora/agent-core-effects/internal";
import type { ModelPrice } from "@moora/agent-core-state-machine";
import { isObject } from "./check-options.ts";

export type { ModelPrice, PriceList } from "@moora/agent-core-state-machine";

/** Whether each field of a price is required. A field that is missing here does not compile. */
const priceFields: Readonly<Record<keyof ModelPrice, boolean>> = {
  input: true,
  output: true,
  cachedInput: false,
  cacheWrite: false,
};

const example = '{ "gpt-5.5": { input: 2, output: 8 } }';

/** Throws `BuildError`, with the path, for a price list that cannot be used. */
export function checkPrices(prices: unknown): void {
  if (!isObject(prices))
    return refuse(`prices must be an object such as ${example}, got ${shownValue(prices)}.`);
  if (Object.keys(prices).length === 0)
    refuse(`prices is empty. Name at least one model, as in ${example}, or leave it out.`);
  for (const [model, price] of Object.entries(prices)) checkPrice(price, `prices.${model}`);
}

function checkPrice(price: unknown, place: string): void {
  if (!isObject(price))
    return refuse(`${place} must be an object such as { input: 2, output: 8 }, got ${shownValue(price)}.`);
  const known = Object.keys(priceFields);
  for (const name of Object.keys(price))
    if (!known.includes(name)) refuse(`${place}.${name}: unknown field.${didYouMean(name, known)}`);
  for (const [name, isRequired] of Object.entries(priceFields)) {
    const amount = price[name];
    if (amount === undefined && !isRequired) continue;
    if (typeof amount !== "number" || !Number.isFinite(amount) || amount < 0)
      refuse(`${place}.${name} must be a number of at least 0, got ${shownValue(amount)}.`);
  }
}
