import { fraction, type Amount } from "./amount.ts";
import { CalculatorError } from "./calculator-error.ts";

/** A token of an expression; `position` counts from 1. */
export type Token = { readonly position: number } & (
  | { readonly type: "number"; readonly amount: Amount }
  | { readonly type: "name"; readonly name: string }
  | { readonly type: "sign"; readonly sign: Sign }
  | { readonly type: "end" }
);

export type Sign = "+" | "-" | "*" | "/" | "^" | "%" | "(" | ")" | ",";

/** The spellings of the signs that users and models use. */
const signs: Readonly<Record<string, Sign>> = {
  "+": "+",
  "-": "-",
  "\u2212": "-",
  "*": "*",
  "**": "^",
  "\u00d7": "*",
  "\u00b7": "*",
  "/": "/",
  "\u00f7": "/",
  "^": "^",
  "%": "%",
  "(": "(",
  ")": ")",
  ",": ",",
};

const piece = /\s+|(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?|([A-Za-z_]\w*)|(\*\*|[^\s\w])/uy;

/** Throws `CalculatorError` for an invalid character. */
export function expressionToTokens(expression: string): readonly Token[] {
  const tokens: Token[] = [];
  piece.lastIndex = 0;
  for (let at = 0; at < expression.length; at = piece.lastIndex) {
    const match = piece.exec(expression);
    const position = at + 1;
    if (match === null) throw unexpected(expression.charAt(at), position);
    const [, digits, exponent, name, sign] = match;
    if (digits !== undefined)
      tokens.push({ type: "number", amount: amountOf(digits, exponent ?? "0", position), position });
    else if (name !== undefined) tokens.push({ type: "name", name: name.toLowerCase(), position });
    else if (sign !== undefined) tokens.push({ type: "sign", sign: signOf(sign, position), position });
  }
  return [...tokens, { type: "end", position: expression.length + 1 }];
}

function amountOf(digits: string, exponent: string, position: number): Amount {
  const shift = Number(exponent);
  if (Math.abs(shift) > 400) throw new CalculatorError("The exponent is too large.", position);
  const [whole = "", decimals = ""] = digits.split(".");
  const scale = shift - decimals.length;
  const value = BigInt(whole + decimals);
  return scale < 0 ? fraction(value, 10n ** BigInt(-scale)) : fraction(value * 10n ** BigInt(scale));
}

function signOf(text: string, position: number): Sign {
  const sign = Object.hasOwn(signs, text) ? signs[text] : undefined;
  if (sign === undefined) throw unexpected(text, position);
  return sign;
}

const unexpected = (text: string, position: number): CalculatorError =>
  new CalculatorError(`Invalid character "${text}".`, position);
