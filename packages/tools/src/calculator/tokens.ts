import { Fraction } from "fraction.js";
import { Refused } from "../refused.ts";

/**
 * A token of an expression; `position` counts characters from 1. A sign of more than one spelling has one text, a number the text
 * "number".
 */
export interface Token {
  readonly text: string;
  readonly position: number;
  /** Set for a number. */
  readonly amount?: Fraction;
  readonly isName: boolean;
}

/** The error of an invalid expression. */
export const invalid = (problem: string, position: number): Refused =>
  new Refused("invalid-expression", `${problem} (at position ${position})`);

/** Other spellings of the signs that users and models use. */
const signs: ReadonlyMap<string, string> = new Map([
  ["\u2212", "-"],
  ["**", "^"],
  ["\u00d7", "*"],
  ["\u00b7", "*"],
  ["\u00f7", "/"],
]);

const piece = /(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?|([A-Za-z_]\w*)|\*\*|\S/gu;

/** Throws `Refused` for an invalid character. */
export const expressionToTokens = (expression: string): readonly Token[] =>
  Array.from(expression.matchAll(piece), (match): Token => {
    const [text, digits, exponent = "0", name] = match;
    const position = match.index + 1;
    const amount = digits === undefined ? undefined : amountOf(digits, Number(exponent), position);
    if (amount !== undefined) return { text: "number", amount, isName: false, position };
    if (name !== undefined) return { text: name.toLowerCase(), isName: true, position };
    const sign = signs.get(text) ?? text;
    if (!"+-*/^%(),".includes(sign)) throw invalid(`Invalid character "${sign}".`, position);
    return { text: sign, isName: false, position };
  });

function amountOf(digits: string, exponent: number, position: number): Fraction {
  if (Math.abs(exponent) > 400) throw invalid("The exponent is too large.", position);
  const [whole = "", decimals = ""] = digits.split(".");
  const scale = exponent - decimals.length;
  const value = BigInt(whole + decimals);
  return scale < 0 ? new Fraction(value, 10n ** BigInt(-scale)) : new Fraction(value * 10n ** BigInt(scale));
}
