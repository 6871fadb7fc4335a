import { Fraction } from "fraction.js";

/** A number of the calculator: a fraction while every step is exact, a double from the first inexact step on. */
export type Amount = Fraction | number;

/** Beyond this many bits a fraction becomes a double: a short expression must not use gigabytes of memory. */
const maxBits = 4_096;

const bitsOf = ({ n, d }: Fraction): number =>
  Math.max(...[n, d].map((value) => value.toString(16).length * 4));

/** The fraction, or the nearest double if it exceeds `maxBits`. */
const limited = (amount: Fraction): Amount => (bitsOf(amount) <= maxBits ? amount : toNumber(amount));

/** The approximate double. Numerator and denominator of a long fraction are first shortened by the same number of bits. */
export function toNumber(amount: Amount): number {
  if (typeof amount === "number") return amount;
  const { s, n, d } = amount;
  const shorter = (n < d ? n : d).toString(16).length * 4;
  const excess = BigInt(Math.max(0, shorter - 900));
  return Number(s * (n >> excess)) / Number(d >> excess);
}

/** The value as an integer of at most `most` in magnitude, such as an exponent. Undefined for any other value. */
export function toInteger(amount: Amount, most: number): number | undefined {
  const value = toNumber(amount);
  const isExact = typeof amount === "number" ? Number.isInteger(value) : amount.d === 1n;
  return isExact && Math.abs(value) <= most ? value : undefined;
}

/** An operation that is exact for two fractions, by the method of that name. */
export const exactOr =
  (method: "add" | "sub" | "mul" | "div" | "mod", double: (a: number, b: number) => number) =>
  (a: Amount, b: Amount): Amount =>
    typeof a === "number" || typeof b === "number" ? double(toNumber(a), toNumber(b)) : limited(a[method](b));

/** Exact for integer exponents, unless the result exceeds `maxBits`. */
export function power(base: Amount, exponent: Amount): Amount {
  const times = toInteger(exponent, maxBits);
  if (typeof base === "number" || times === undefined) return toNumber(base) ** toNumber(exponent);
  const isLong = (bitsOf(base) - 4) * Math.abs(times) > maxBits;
  const raised = isLong ? null : base.pow(times);
  return raised === null ? toNumber(base) ** times : limited(raised);
}

/** Less than, equal to or greater than 0, as `a` is compared with `b`. */
export const compare = (a: Amount, b: Amount): number =>
  typeof a === "number" || typeof b === "number" ? toNumber(a) - toNumber(b) : a.compare(b);

/** The exact root of a square number, a double for any other number. */
export function squareRoot(a: Amount): Amount {
  const double = Math.sqrt(toNumber(a));
  if (typeof a === "number" || a.s < 0n) return double;
  const root = new Fraction(integerRoot(a.n), integerRoot(a.d));
  return root.mul(root).equals(a) ? root : double;
}

/** By Newton's method, from above. */
function integerRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) / 2n;
    if (next >= root) return root;
    root = next;
  }
}

/** The maximum number of decimals, and of digits, in the output. */
const maxDecimals = 20;
const maxDigits = 200;

/** A number in decimal notation. `isRounded`: digits were omitted, so it is printed after "≈" instead of "=". */
export function amountToText(amount: Amount): { readonly text: string; readonly isRounded: boolean } {
  if (typeof amount !== "number") {
    const { s, n, d } = amount.mul(10n ** BigInt(maxDecimals));
    const digits = n.toString().padStart(maxDecimals + 1, "0");
    const text = `${digits.slice(0, -maxDecimals)}.${digits.slice(-maxDecimals)}`.replace(/\.?0+$/, "");
    if (d === 1n && text.length <= maxDigits) return { text: s < 0n ? `-${text}` : text, isRounded: false };
  }
  return { text: String(Number(toNumber(amount).toPrecision(15))), isRounded: true };
}
