import { Fraction } from "fraction.js";
import { compare, power, squareRoot, toInteger, toNumber, type Amount } from "./amount.ts";

/** A function of the calculator, with its minimum and maximum number of arguments. `of` throws `RangeError`. */
export interface MathFunction {
  readonly least: number;
  readonly most: number;
  readonly of: (first: Amount, ...rest: readonly Amount[]) => Amount;
}

const one = (of: (amount: Amount) => Amount): MathFunction => ({ least: 1, most: 1, of });

/** A function that both kinds of numbers have. */
const both = (name: "abs" | "floor" | "ceil"): MathFunction =>
  one((amount) => (typeof amount === "number" ? Math[name](amount) : amount[name]()));

const double = (of: (value: number) => number): MathFunction => one((amount) => of(toNumber(amount)));

const logarithm = (of: (value: number) => number): MathFunction =>
  double((value) => {
    if (value <= 0) throw new RangeError("The argument of a logarithm must be greater than 0.");
    return of(value);
  });

/** The first of some amounts in an order: 1 ascending, -1 descending. */
const firstOf = (order: 1 | -1): MathFunction => ({
  least: 1,
  most: 100,
  of: (first, ...rest) => rest.reduce((a, b) => (compare(b, a) * order < 0 ? b : a), first),
});

/** Where a sine or cosine is zero, its double is off by a rounding error. */
const zeroIfTiny = (value: number): number => (Math.abs(value) < 1e-15 ? 0 : value);

function tangent(value: number): number {
  if (zeroIfTiny(Math.cos(value)) === 0) throw new RangeError("tan is undefined for this argument.");
  return zeroIfTiny(Math.tan(value));
}

/** Rounds to an integer or to the given number of digits; halves are rounded away from zero. */
function round(amount: Amount, digits: Amount = 0): Amount {
  const places = toInteger(digits, 15);
  if (places === undefined) throw new RangeError("The digits of round must be an integer up to 15.");
  if (typeof amount === "number") {
    const scale = toNumber(power(new Fraction(10), places));
    return (Math.sign(amount) * Math.round(Math.abs(amount) * scale)) / scale;
  }
  const scale = 10n ** BigInt(Math.abs(places));
  const [to, from] = places < 0 ? [new Fraction(1n, scale), scale] : [scale, new Fraction(1n, scale)];
  return amount.abs().mul(to).round().mul(from).mul(amount.s);
}

/** Angles are radians; `log` is to the base 10, `ln` to the base e. */
export const functions: ReadonlyMap<string, MathFunction> = new Map([
  ["sqrt", one(squareRoot)],
  ["abs", both("abs")],
  ["min", firstOf(1)],
  ["max", firstOf(-1)],
  ["round", { least: 1, most: 2, of: round }],
  ["floor", both("floor")],
  ["ceil", both("ceil")],
  ["log", logarithm(Math.log10)],
  ["ln", logarithm(Math.log)],
  ["exp", double(Math.exp)],
  ["sin", double((value) => zeroIfTiny(Math.sin(value)))],
  ["cos", double((value) => zeroIfTiny(Math.cos(value)))],
  ["tan", double(tangent)],
]);

export const constants: ReadonlyMap<string, number> = new Map([
  ["pi", Math.PI],
  ["tau", 2 * Math.PI],
  ["e", Math.E],
]);
