import type { JsonObject } from "@moora/llm";
import type { Choose } from "../choose.ts";
import { oneOf } from "./choices.ts";

/** Positive numbers are drawn between these where a schema has no bounds: seven orders of magnitude. */
const smallest = 0.1;
const largest = 1_000_000;

/**
 * A number for a JSON Schema: in half of the cases spread evenly over the orders of magnitude, so that what lies between
 * 50 and 500 comes as often as what lies between 5 and 50; otherwise a bound, a small number, or a constant of the agent
 * and its neighbors.
 */
export function drawNumber(
  schema: JsonObject,
  isInteger: boolean,
  constants: readonly number[],
  choose: Choose,
): number {
  const { low, high } = boundsOf(schema, isInteger);
  const value = drawBetween(low, high, constants, choose);
  const whole = isInteger ? Math.round(value) : value;
  return Math.min(Math.max(whole, low), high);
}

function drawBetween(low: number, high: number, constants: readonly number[], choose: Choose): number {
  switch (choose(4)) {
    case 0:
      return oneOf(choose, [1, 0, -1, 2.5, 1e9, low, high].filter(Number.isFinite));
    case 1:
      return constants.length === 0
        ? drawMagnitude(low, high, choose)
        : oneOf(choose, constants) + oneOf(choose, [0, 1, -1]);
    default:
      return drawMagnitude(low, high, choose);
  }
}

/** Evenly over the orders of magnitude, by whole digits: the same on every engine. */
function drawMagnitude(low: number, high: number, choose: Choose): number {
  const least = low > 0 ? low : smallest;
  const most = Number.isFinite(high) && high > least ? Math.min(high, largest) : largest;
  const orders: number[] = [];
  for (let order = -1; order <= 6; order += 1)
    if (10 ** (order + 1) > least && 10 ** order <= most) orders.push(order);
  const order = orders.length === 0 ? 0 : oneOf(choose, orders);
  const value = Math.round((100 + choose(900)) * 10 ** order) / 100;
  return high <= 0 || (low < 0 && choose(8) === 0) ? -value : value;
}

interface Bounds {
  readonly low: number;
  readonly high: number;
}

function boundsOf(schema: JsonObject, isInteger: boolean): Bounds {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  const step = isInteger ? 1 : 0.01;
  return {
    low: typeof minimum === "number" ? minimum : typeof above === "number" ? above + step : -Infinity,
    high: typeof maximum === "number" ? maximum : typeof below === "number" ? below - step : Infinity,
  };
}
