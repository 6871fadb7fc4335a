import { Fraction } from "fraction.js";
import type { Amount } from "./amount.ts";

/** A token of an expression; `position` counts from 1. A sign of more than one spelling has one text. */
export type Token = { readonly text: string; readonly position: number } & (
  | { readonly type: "number"; readonly amount: Amount }
  | { readonly type: "name" | "sign" | "end" }
);

/** An invalid expression. `position` counts characters from 1. */
export class CalculatorError extends Error {
  override readonly name = "CalculatorError";
  readonly position: number;

  constructor(problem: string, position: number) {
    super(`${problem} (at position ${position})`);
    this.position = position;
  }
}

/** Other spellings of the signs that users and models use. */
const signs: Readonly<Record<string, string>> = {
  "\u2212": "-",
  "**": "^",
  "\u00d7": "*",
  "\u00b7": "*",
  "\u00f7": "/",
};

const piece = /(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?|([A-Za-z_]\w*)|\*\*|\S/gu;

/** Throws `CalculatorError` for an invalid character. */
export function expressionToTokens(expression: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const match of expression.matchAll(piece)) {
    const [text, digits, exponent = "0", name] = match;
    const position = match.index + 1;
    if (digits !== undefined) {
      const amount = amountOf(digits, Number(exponent), position);
      tokens.push({ type: "number", text: "number", amount, position });
    } else if (name !== undefined) tokens.push({ type: "name", text: name.toLowerCase(), position });
    else tokens.push({ type: "sign", text: signOf(text, position), position });
  }
  return [...tokens, { type: "end", text: "", position: expression.length + 1 }];
}

function amountOf(digits: string, exponent: number, position: number): Amount {
  if (Math.abs(exponent) > 400) throw new CalculatorError("The exponent is too large.", position);
  const [whole = "", decimals = ""] = digits.split(".");
  const scale = exponent - decimals.length;
  const value = BigInt(whole + decimals);
  return scale < 0 ? new Fraction(value, 10n ** BigInt(-scale)) : new Fraction(value * 10n ** BigInt(scale));
}

function signOf(text: string, position: number): string {
  const sign = Object.hasOwn(signs, text) ? signs[text] : text;
  if (sign !== undefined && "+-*/^%(),".includes(sign)) return sign;
  throw new CalculatorError(`Invalid character "${text}".`, position);
}
