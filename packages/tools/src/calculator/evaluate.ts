import {
  add,
  divide,
  fraction,
  isZero,
  multiply,
  negate,
  power,
  remainder,
  subtract,
  toNumber,
  type Amount,
} from "./amount.ts";
import { CalculatorError } from "./calculator-error.ts";
import { expressionToTokens, type Sign, type Token } from "./expression-to-tokens.ts";
import { constants, functions } from "./functions.ts";

/** Longer expressions are rejected before they are parsed. */
export const maxExpressionLength = 500;

/** The value of an expression. Throws `CalculatorError` with the position of the error. */
export function evaluate(expression: string): Amount {
  if (expression.length > maxExpressionLength) {
    throw new CalculatorError(
      `The expression is too long: ${expression.length} characters; the maximum is ${maxExpressionLength}.`,
      maxExpressionLength + 1,
    );
  }
  const reader = new ExpressionParser(expressionToTokens(expression));
  return reader.whole();
}

/** A recursive-descent parser: one method for each level of precedence, the lowest first. */
class ExpressionParser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Amount {
    const amount = this.#sum();
    if (this.#next.type !== "end") throw unexpected(this.#next);
    return amount;
  }

  #sum(): Amount {
    let amount = this.#product();
    for (;;) {
      const { position } = this.#next;
      if (this.#takes("+")) amount = finite(add(amount, this.#product()), position);
      else if (this.#takes("-")) amount = finite(subtract(amount, this.#product()), position);
      else return amount;
    }
  }

  #product(): Amount {
    let amount = this.#signed();
    for (;;) {
      const { position } = this.#next;
      if (this.#takes("*")) amount = finite(multiply(amount, this.#signed()), position);
      else if (this.#takes("/")) amount = finite(divide(amount, this.#divisor(position)), position);
      else if (this.#takes("%")) amount = finite(remainder(amount, this.#divisor(position)), position);
      else return amount;
    }
  }

  #divisor(position: number): Amount {
    const amount = this.#signed();
    if (isZero(amount)) throw new CalculatorError("Division by zero.", position);
    return amount;
  }

  #signed(): Amount {
    if (this.#takes("-")) return negate(this.#signed());
    return this.#takes("+") ? this.#signed() : this.#raised();
  }

  /** Has precedence over a sign before it, and is right-associative: -2^2 is -4, 2^3^2 is 2^9. */
  #raised(): Amount {
    const base = this.#perCent();
    const { position } = this.#next;
    if (!this.#takes("^")) return base;
    const exponent = this.#signed();
    if (isZero(base) && toNumber(exponent) < 0) throw new CalculatorError("Division by zero.", position);
    return finite(power(base, exponent), position);
  }

  /** "%" before an operand is the remainder of a division, otherwise it is percent. */
  #perCent(): Amount {
    let amount = this.#operand();
    while (this.#is("%")) {
      const after = this.#tokens[this.#at + 1] ?? this.#next;
      if (beginsOperand(after)) return amount;
      if (after.type === "sign" && (after.sign === "-" || after.sign === "+")) {
        throw new CalculatorError(
          `"%" before "${after.sign}" is ambiguous: use parentheses.`,
          this.#next.position,
        );
      }
      this.#at += 1;
      amount = divide(amount, fraction(100n));
    }
    return amount;
  }

  #operand(): Amount {
    const token = this.#next;
    this.#at += 1;
    if (token.type === "number") return token.amount;
    if (token.type === "name")
      return this.#is("(") ? this.#call(token.name, token.position) : constant(token);
    if (token.type !== "sign" || token.sign !== "(") throw unexpected(token);
    const amount = this.#sum();
    this.#expect(")");
    return amount;
  }

  #call(name: string, position: number): Amount {
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
    const amounts = [this.#sum()];
    while (this.#takes(",")) amounts.push(this.#sum());
    this.#expect(")");
    return amounts;
  }

  get #next(): Token {
    return this.#tokens[Math.min(this.#at, this.#tokens.length - 1)] ?? { type: "end", position: 1 };
  }

  #is(sign: Sign): boolean {
    return this.#next.type === "sign" && this.#next.sign === sign;
  }

  #takes(sign: Sign): boolean {
    if (!this.#is(sign)) return false;
    this.#at += 1;
    return true;
  }

  #expect(sign: Sign): void {
    if (!this.#takes(sign)) throw new CalculatorError(`Missing "${sign}".`, this.#next.position);
  }
}

const beginsOperand = (token: Token): boolean =>
  token.type === "number" || token.type === "name" || (token.type === "sign" && token.sign === "(");

function constant({ name, position }: { readonly name: string; readonly position: number }): Amount {
  const amount = Object.hasOwn(constants, name) ? constants[name] : undefined;
  if (amount !== undefined) return amount;
  throw new CalculatorError(
    `Unknown constant "${name}". Available: ${Object.keys(constants).join(", ")}.`,
    position,
  );
}

function finite(amount: Amount, position: number): Amount {
  if (amount.exact || Number.isFinite(amount.value)) return amount;
  if (Number.isNaN(amount.value)) throw new CalculatorError("The result is not a real number.", position);
  throw new CalculatorError("The result is too large.", position);
}

function unexpected(token: Token): CalculatorError {
  if (token.type === "end") return new CalculatorError("Unexpected end of the expression.", token.position);
  if (token.type === "sign" && token.sign === ",") {
    return new CalculatorError(
      '"," separates arguments of a function; write 1000, not 1,000.',
      token.position,
    );
  }
  const shown = token.type === "name" ? token.name : token.type === "sign" ? token.sign : "number";
  return new CalculatorError(`Unexpected ${shown}.`, token.position);
}
