import { Fraction } from "fraction.js";
import type { Refused } from "../refused.ts";
import { compare, exactOr, power, type Amount } from "./amount.ts";
import { constants, functions } from "./functions.ts";
import { expressionToTokens, invalid, type Token } from "./tokens.ts";

/** Longer expressions are rejected before they are parsed. */
export const maxExpressionLength = 500;

/** The value of an expression. Throws `Refused` with the position of the error. */
export function evaluate(expression: string): Amount {
  const { length } = expression;
  if (length <= maxExpressionLength)
    return new ExpressionParser(expressionToTokens(expression), length + 1).whole();
  throw invalid(
    `The expression is too long: ${length} characters; the maximum is ${maxExpressionLength}.`,
    maxExpressionLength + 1,
  );
}

interface Operator {
  /** An operator of a higher level has precedence. A sign before an operand has the level of a product. */
  readonly level: number;
  readonly of: (left: Amount, right: Amount) => Amount;
  /** Whether it divides by its right side. */
  readonly divides?: true;
}

const [sum, product, exponent] = [1, 2, 3];

const multiply = exactOr("mul", (a, b) => a * b);
const divide = exactOr("div", (a, b) => a / b);

const operators: ReadonlyMap<string, Operator> = new Map([
  ["+", { level: sum, of: exactOr("add", (a, b) => a + b) }],
  ["-", { level: sum, of: exactOr("sub", (a, b) => a - b) }],
  ["*", { level: product, of: multiply }],
  ["/", { level: product, of: divide, divides: true }],
  ["%", { level: product, of: exactOr("mod", (a, b) => a % b), divides: true }],
  ["^", { level: exponent, of: power }],
]);

const [minusOne, hundred] = [new Fraction(-1), new Fraction(100)];

/** Reads an expression by the levels of its operators. "^" is right-associative, and has precedence over a sign: -2^2 is -4, 2^3^2 is 2^9. */
class ExpressionParser {
  readonly #tokens: readonly Token[];
  readonly #end: Token;
  #at = 0;

  constructor(tokens: readonly Token[], end: number) {
    this.#tokens = tokens;
    this.#end = { text: "", isName: false, position: end };
  }

  whole(): Amount {
    const amount = this.#expression(sum);
    if (this.#next !== this.#end) throw unexpected(this.#next);
    return amount;
  }

  /** An expression without operators of a lower level. */
  #expression(least: number): Amount {
    let left = this.#takes("-")
      ? multiply(minusOne, this.#expression(exponent))
      : this.#takes("+")
        ? this.#expression(exponent)
        : this.#perCent();
    for (;;) {
      const { position, text } = this.#next;
      const operator = operators.get(text);
      if (operator === undefined || operator.level < least) return left;
      this.#at += 1;
      const isPower = operator.level === exponent;
      const right = this.#expression(isPower ? exponent : operator.level + 1);
      const divisor = operator.divides ? right : isPower && compare(right, 0) < 0 ? left : 1;
      if (compare(divisor, 0) === 0) throw invalid("Division by zero.", position);
      left = finite(operator.of(left, right), position);
    }
  }

  /** "%" before an operand is the remainder of a division, otherwise it is percent. */
  #perCent(): Amount {
    let amount = this.#operand();
    while (this.#next.text === "%") {
      const after = this.#tokens[this.#at + 1] ?? this.#end;
      if (after.amount !== undefined || after.isName || after.text === "(") return amount;
      if (after.text === "-" || after.text === "+")
        throw invalid(`"%" before "${after.text}" is ambiguous: use parentheses.`, this.#next.position);
      this.#at += 1;
      amount = divide(amount, hundred);
    }
    return amount;
  }

  #operand(): Amount {
    const token = this.#next;
    this.#at += 1;
    if (token.amount !== undefined) return token.amount;
    if (token.isName) return this.#takes("(") ? this.#call(token) : constant(token);
    if (token.text !== "(") throw unexpected(token);
    const amount = this.#expression(sum);
    this.#expect(")");
    return amount;
  }

  #call({ text: name, position }: Token): Amount {
    const known = functions.get(name);
    if (known === undefined) throw invalid(`Unknown function ${name}.`, position);
    const amounts: Amount[] = [];
    while (!this.#takes(")")) {
      if (amounts.length > 0) this.#expect(",");
      amounts.push(this.#expression(sum));
    }
    const [first, ...rest] = amounts;
    if (first === undefined || amounts.length < known.least || amounts.length > known.most)
      throw invalid(`${name} does not accept ${amounts.length} arguments.`, position);
    try {
      return finite(known.of(first, ...rest), position);
    } catch (error) {
      throw error instanceof RangeError ? invalid(error.message, position) : error;
    }
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? this.#end;
  }

  #takes(sign: string): boolean {
    if (this.#next.text !== sign) return false;
    this.#at += 1;
    return true;
  }

  #expect(sign: string): void {
    if (!this.#takes(sign)) throw invalid(`Missing "${sign}".`, this.#next.position);
  }
}

function constant({ text: name, position }: Token): Amount {
  const amount = constants.get(name);
  if (amount !== undefined) return amount;
  throw invalid(`Unknown constant "${name}". Available: ${[...constants.keys()].join(", ")}.`, position);
}

function finite(amount: Amount, position: number): Amount {
  if (typeof amount !== "number" || Number.isFinite(amount)) return amount;
  throw invalid(
    Number.isNaN(amount) ? "The result is not a real number." : "The result is too large.",
    position,
  );
}

const unexpected = ({ text, position }: Token): Refused =>
  text === ","
    ? invalid('"," separates arguments of a function; write 1000, not 1,000.', position)
    : invalid(`Unexpected ${text || "end of the expression"}.`, position);
