/**
 * A number of the calculator: a fraction while every step is exact, a double from the first inexact step on.
 * `bottom` is positive, and the fraction is in lowest terms.
 */
export type Amount =
  | { readonly exact: true; readonly top: bigint; readonly bottom: bigint }
  | { readonly exact: false; readonly value: number };

/** Beyond this many bits a fraction becomes a double: a short expression must not use gigabytes of memory. */
const maxBits = 4_096;

const bitsOf = (value: bigint): number => (value < 0n ? -value : value).toString(16).length * 4;

/** A fraction in lowest terms, or the nearest double if it exceeds `maxBits`. */
export function fraction(top: bigint, bottom: bigint = 1n): Amount {
  const sign = bottom < 0n ? -1n : 1n;
  const common = sign * commonDivisor(top, bottom);
  const reduced = { exact: true, top: top / common, bottom: bottom / common } as const;
  if (bitsOf(reduced.top) <= maxBits && bitsOf(reduced.bottom) <= maxBits) return reduced;
  return approximate(toNumber(reduced));
}

export const approximate = (value: number): Amount => ({ exact: false, value });

/** The approximate double. Numerator and denominator of a long fraction are first shortened by the same number of bits. */
export function toNumber(amount: Amount): number {
  if (!amount.exact) return amount.value;
  const { top, bottom } = amount;
  const excess = Math.min(bitsOf(top), bitsOf(bottom)) - 900;
  if (excess <= 0) return Number(top) / Number(bottom);
  return Number(top >> BigInt(excess)) / Number(bottom >> BigInt(excess));
}

export const isZero = (amount: Amount): boolean => (amount.exact ? amount.top === 0n : amount.value === 0);

/** The value as an integer of at most `most` in magnitude, such as an exponent. Undefined for any other value. */
export function toInteger(amount: Amount, most: number): number | undefined {
  const value = toNumber(amount);
  const isExact = amount.exact ? amount.bottom === 1n : Number.isInteger(value);
  return isExact && Math.abs(value) <= most ? value : undefined;
}

export const add = (a: Amount, b: Amount): Amount =>
  a.exact && b.exact
    ? fraction(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom)
    : approximate(toNumber(a) + toNumber(b));

export const negate = (a: Amount): Amount => (a.exact ? { ...a, top: -a.top } : approximate(-a.value));

export const subtract = (a: Amount, b: Amount): Amount => add(a, negate(b));

export const multiply = (a: Amount, b: Amount): Amount =>
  a.exact && b.exact ? fraction(a.top * b.top, a.bottom * b.bottom) : approximate(toNumber(a) * toNumber(b));

/** Divides. The divisor must not be zero. */
export const divide = (a: Amount, b: Amount): Amount =>
  a.exact && b.exact ? fraction(a.top * b.bottom, a.bottom * b.top) : approximate(toNumber(a) / toNumber(b));

/** The remainder, with the sign of `a`. The divisor must not be zero. */
export const remainder = (a: Amount, b: Amount): Amount =>
  a.exact && b.exact
    ? fraction((a.top * b.bottom) % (b.top * a.bottom), a.bottom * b.bottom)
    : approximate(toNumber(a) % toNumber(b));

/** Exact for integer exponents, unless the result exceeds `maxBits`. */
export function power(base: Amount, exponent: Amount): Amount {
  const times = toInteger(exponent, maxBits);
  if (!base.exact || times === undefined) return approximate(toNumber(base) ** toNumber(exponent));
  const bits = Math.max(bitsOf(base.top), bitsOf(base.bottom)) - 4;
  if (bits * Math.abs(times) > maxBits) return approximate(toNumber(base) ** times);
  const raised = [base.top ** BigInt(Math.abs(times)), base.bottom ** BigInt(Math.abs(times))] as const;
  return times < 0 ? fraction(raised[1], raised[0]) : fraction(...raised);
}

export const compare = (a: Amount, b: Amount): number => {
  const difference = subtract(a, b);
  return difference.exact ? Number(difference.top > 0n) - Number(difference.top < 0n) : difference.value;
};

/** The greatest integer that is not above it. */
export function floor(a: Amount): Amount {
  if (!a.exact) return approximate(Math.floor(a.value));
  const whole = a.top / a.bottom;
  return fraction(a.top < 0n && whole * a.bottom !== a.top ? whole - 1n : whole);
}

/** The exact root of a square number, a double for any other number. */
export function squareRoot(a: Amount): Amount {
  if (a.exact && a.top >= 0n) {
    const top = integerRoot(a.top);
    const bottom = integerRoot(a.bottom);
    if (top * top === a.top && bottom * bottom === a.bottom) return fraction(top, bottom);
  }
  return approximate(Math.sqrt(toNumber(a)));
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

function commonDivisor(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (smaller > 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}
