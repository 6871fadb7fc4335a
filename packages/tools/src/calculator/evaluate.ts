import { Fraction } from "fraction.js";
import { add, compare, divide, multiply, negate, power, remainder, subtract, type Amount } from "./amount.ts";
import { constants, functions } from "./functions.ts";
import { CalculatorError, expressionToTokens, type Token } from "./tokens.ts";

/** Longer expressions are rejected before they are parsed. */
export const maxExpressionLength = 500;

/** The value of an expression. Throws `CalculatorError` with the position of the error. */
export function evaluate(expression: string): Amount {
  if (expression.length <= maxExpressionLength)
    return new ExpressionParser(expressionToTokens(expression)).whole();
  throw new CalculatorError(
    `The expression is too long: ${expression.length} characters; the maximum is ${maxExpressionLength}.`,
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

const operators: Readonly<Record<string, Operator>> = {
  "+": { level: sum, of: add },
  "-": { level: sum, of: subtract },
  "*": { level: product, of: multiply },
  "/": { level: product, of: divide, divides: true },
  "%": { level: product, of: remainder, divides: true },
  "^": { level: exponent, of: power },
};

/** Reads an expression by the levels of its operators. "^" is right-associative, and has precedence over a sign: -2^2 is -4, 2^3^2 is 2^9. */
class ExpressionParser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Amount {
    const amount = this.#expression(sum);
    if (this.#next.type !== "end") throw unexpected(this.#next);
    return amount;
  }

  /** An expression without operators of a lower level. */
  #expression(least: number): Amount {
    let left = this.#takes("-")
      ? negate(this.#expression(exponent))
      : this.#takes("+")
        ? this.#expression(exponent)
        : this.#perCent();
    for (;;) {
      const { position } = this.#next;
      const operator = this.#operator;
      if (operator === undefined || operator.level < least) return left;
      this.#at += 1;
      const right = this.#expression(operator.level === exponent ? exponent : operator.level + 1);
      const divisor = operator.divides
        ? right
        : operator.level === exponent && compare(right, 0) < 0
          ? left
          : 1;
      if (compare(divisor, 0) === 0) throw new CalculatorError("Division by zero.", position);
      left = finite(operator.of(left, right), position);
    }
  }

  /** "%" before an operand is the remainder of a division, otherwise it is percent. */
  #perCent(): Amount {
    let amount = this.#operand();
    while (this.#is("%")) {
      const after = this.#tokens[this.#at + 1] ?? this.#next;
      if (after.type === "number" || after.type === "name" || isSign(after, "(")) return amount;
      if (isSign(after, "-") || isSign(after, "+")) {
        throw new CalculatorError(
          `"%" before "${after.text}" is ambiguous: use parentheses.`,
          this.#next.position,
        );
      }
      this.#at += 1;
      amount = divide(amount, new Fraction(100));
    }
    return amount;
  }

  #operand(): Amount {
    const token = this.#next;
    this.#at += 1;
    if (token.type === "number") return token.amount;
    if (token.type === "name") return this.#is("(") ? this.#call(token) : constant(token);
    if (!isSign(token, "(")) throw unexpected(token);
    const amount = this.#expression(sum);
    this.#expect(")");
    return amount;
  }

  #call({ text: name, position }: Token): Amount {
    const known = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (known === undefined) throw new CalculatorError(`Unknown function ${name}.`, position);
    this.#expect("(");
    const [first, ...rest] = this.#list();
    const count = first === undefined ? 0 : rest.length + 1;
    if (first === undefined || count < known.least || count > known.most)
      throw new CalculatorError(`${name} does not accept ${count} arguments.`, position);
    try {
      return finite(known.of(first, ...rest), position);
    } catch (error) {
      throw error instanceof RangeError ? new CalculatorError(error.message, position) : error;
    }
  }

  #list(): readonly Amount[] {
    if (this.#takes(")")) return [];
    const amounts = [this.#expression(sum)];
    while (this.#takes(",")) amounts.push(this.#expression(sum));
    this.#expect(")");
    return amounts;
  }

  get #next(): Token {
    return (
      this.#tokens[Math.min(this.#at, this.#tokens.length - 1)] ?? { type: "end", text: "", position: 1 }
    );
  }

  get #operator(): Operator | undefined {
    const token = this.#next;
    return token.type === "sign" ? operators[token.text] : undefined;
  }

  #is(sign: string): boolean {
    return isSign(this.#next, sign);
  }

  #takes(sign: string): boolean {
    if (!this.#is(sign)) return false;
    this.#at += 1;
    return true;
  }

  #expect(sign: string): void {
    if (!this.#takes(sign)) throw new CalculatorError(`Missing "${sign}".`, this.#next.position);
  }
}

const isSign = (token: Token, sign: string): boolean => token.type === "sign" && token.text === sign;

function constant({ text: name, position }: Token): Amount {
  const amount = Object.hasOwn(constants, name) ? constants[name] : undefined;
  if (amount !== undefined) return amount;
  throw new CalculatorError(
    `Unknown constant "${name}". Available: ${Object.keys(constants).join(", ")}.`,
    position,
  );
}

function finite(amount: Amount, position: number): Amount {
  if (typeof amount !== "number" || Number.isFinite(amount)) return amount;
  if (Number.isNaN(amount)) throw new CalculatorError("The result is not a real number.", position);
  throw new CalculatorError("The result is too large.", position);
}

function unexpected(token: Token): CalculatorError {
  if (token.type === "end") return new CalculatorError("Unexpected end of the expression.", token.position);
  if (isSign(token, ",")) {
    return new CalculatorError(
      '"," separates arguments of a function; write 1000, not 1,000.',
      token.position,
    );
  }
  return new CalculatorError(`Unexpected ${token.text}.`, token.position);
}
