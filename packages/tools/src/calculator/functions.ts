import { Fraction } from "fraction.js";
import {
  add,
  compare,
  divide,
  multiply,
  negate,
  power,
  squareRoot,
  toInteger,
  toNumber,
  type Amount,
} from "./amount.ts";

/** A function of the calculator, with its minimum and maximum number of arguments. `of` throws `RangeError`. */
export interface MathFunction {
  readonly least: number;
  readonly most: number;
  readonly of: (first: Amount, ...rest: readonly Amount[]) => Amount;
}

const one = (of: (amount: Amount) => Amount): MathFunction => ({ least: 1, most: 1, of });

const many = (of: MathFunction["of"]): MathFunction => ({ least: 1, most: 100, of });

const double = (of: (value: number) => number): MathFunction => one((amount) => of(toNumber(amount)));

const logarithm = (of: (value: number) => number): MathFunction =>
  double((value) => {
    if (value <= 0) throw new RangeError("The argument of a logarithm must be greater than 0.");
    return of(value);
  });

/** Where a sine or cosine is zero, its double is off by a rounding error. */
const zeroIfTiny = (value: number): number => (Math.abs(value) < 1e-15 ? 0 : value);

function tangent(value: number): number {
  if (zeroIfTiny(Math.cos(value)) === 0) throw new RangeError("tan is undefined for this argument.");
  return zeroIfTiny(Math.tan(value));
}

const absolute = (amount: Amount): Amount => (compare(amount, 0) < 0 ? negate(amount) : amount);

const floor = (amount: Amount): Amount => (typeof amount === "number" ? Math.floor(amount) : amount.floor());

/** Rounds to an integer or to the given number of digits; halves are rounded away from zero. */
function round(amount: Amount, digits: Amount = new Fraction(0)): Amount {
  const places = toInteger(digits, 15);
  if (places === undefined) throw new RangeError("The digits of round must be an integer up to 15.");
  const scale = power(new Fraction(10), new Fraction(places));
  const nearest = divide(floor(add(multiply(absolute(amount), scale), new Fraction(1, 2))), scale);
  return compare(amount, 0) < 0 ? negate(nearest) : nearest;
}

/** Angles are radians; `log` is to the base 10, `ln` to the base e. */
export const functions: Readonly<Record<string, MathFunction>> = {
  sqrt: one(squareRoot),
  abs: one(absolute),
  min: many((first, ...rest) =>
    rest.reduce((least, next) => (compare(next, least) < 0 ? next : least), first),
  ),
  max: many((first, ...rest) => rest.reduce((most, next) => (compare(next, most) > 0 ? next : most), first)),
  round: { least: 1, most: 2, of: round },
  floor: one(floor),
  ceil: one((amount) => negate(floor(negate(amount)))),
  log: logarithm(Math.log10),
  ln: logarithm(Math.log),
  exp: double(Math.exp),
  sin: double((value) => zeroIfTiny(Math.sin(value))),
  cos: double((value) => zeroIfTiny(Math.cos(value))),
  tan: double(tangent),
};

export const constants: Readonly<Record<string, number>> = { pi: Math.PI, tau: 2 * Math.PI, e: Math.E };
