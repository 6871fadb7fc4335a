import {
  add,
  approximate,
  compare,
  divide,
  floor,
  fraction,
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

const many = 100;

const rounded =
  (double: (value: number) => number): MathFunction["of"] =>
  (first) =>
    approximate(double(toNumber(first)));

const logarithm =
  (double: (value: number) => number): MathFunction["of"] =>
  (first) => {
    const value = toNumber(first);
    if (value <= 0) throw new RangeError("The argument of a logarithm must be greater than 0.");
    return approximate(double(value));
  };

/** Where a sine or cosine is zero, its double is off by a rounding error. */
const zeroIfTiny = (value: number): number => (Math.abs(value) < 1e-15 ? 0 : value);

const extreme =
  (wanted: 1 | -1): MathFunction["of"] =>
  (first, ...rest) =>
    rest.reduce((best, next) => (compare(next, best) * wanted > 0 ? next : best), first);

const absolute = (amount: Amount): Amount => (compare(amount, fraction(0n)) < 0 ? negate(amount) : amount);

/** Rounds to an integer or to the given number of digits; halves are rounded away from zero. */
function round(amount: Amount, digits: Amount = fraction(0n)): Amount {
  const places = toInteger(digits, 15);
  if (places === undefined) throw new RangeError("The digits of round must be an integer up to 15.");
  const scale = power(fraction(10n), fraction(BigInt(places)));
  const half = fraction(1n, 2n);
  const scaled = multiply(absolute(amount), scale);
  const nearest = divide(floor(add(scaled, half)), scale);
  return compare(amount, fraction(0n)) < 0 ? negate(nearest) : nearest;
}

const tangent: MathFunction["of"] = (first) => {
  const value = toNumber(first);
  if (zeroIfTiny(Math.cos(value)) === 0) throw new RangeError("tan is undefined for this argument.");
  return approximate(zeroIfTiny(Math.tan(value)));
};

/** Angles are radians; `log` is to the base 10, `ln` to the base e. */
export const functions: Readonly<Record<string, MathFunction>> = {
  sqrt: { least: 1, most: 1, of: squareRoot },
  abs: { least: 1, most: 1, of: absolute },
  min: { least: 1, most: many, of: extreme(-1) },
  max: { least: 1, most: many, of: extreme(1) },
  round: { least: 1, most: 2, of: round },
  floor: { least: 1, most: 1, of: floor },
  ceil: { least: 1, most: 1, of: (first) => negate(floor(negate(first))) },
  log: { least: 1, most: 1, of: logarithm(Math.log10) },
  ln: { least: 1, most: 1, of: logarithm(Math.log) },
  exp: { least: 1, most: 1, of: rounded(Math.exp) },
  sin: { least: 1, most: 1, of: rounded((value) => zeroIfTiny(Math.sin(value))) },
  cos: { least: 1, most: 1, of: rounded((value) => zeroIfTiny(Math.cos(value))) },
  tan: { least: 1, most: 1, of: tangent },
};

export const constants: Readonly<Record<string, Amount>> = {
  pi: approximate(Math.PI),
  tau: approximate(2 * Math.PI),
  e: approximate(Math.E),
};
