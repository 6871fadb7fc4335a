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

/** Longer expressions are refused before they are read. */
export const maxExpressionLength = 500;

/** The value of an expression. Throws `CalculatorError` with the place where it goes wrong. */
export function evaluate(expression: string): Amount {
  if (expression.length > maxExpressionLength)
    throw new CalculatorError(
      `The expression is too long: ${expression.length} characters, at most ${maxExpressionLength} are read.`,
      maxExpressionLength + 1,
    );
  const reader = new ExpressionReader(expressionToTokens(expression));
  return reader.whole();
}

/** Reads by recursive descent: a method for each level of precedence, the loosest first. */
class ExpressionReader {
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
    if (isZero(amount)) throw new CalculatorError("This divides by zero.", position);
    return amount;
  }

  #signed(): Amount {
    if (this.#takes("-")) return negate(this.#signed());
    return this.#takes("+") ? this.#signed() : this.#raised();
  }

  /** Binds tighter than a sign before it and takes the rest to its right: -2^2 is -4, 2^3^2 is 2^9. */
  #raised(): Amount {
    const base = this.#perCent();
    const { position } = this.#next;
    if (!this.#takes("^")) return base;
    const exponent = this.#signed();
    if (isZero(base) && toNumber(exponent) < 0) throw new CalculatorError("This divides by zero.", position);
    return finite(power(base, exponent), position);
  }

  /** "%" before another operand is the remainder of a division, otherwise it means "of a hundred". */
  #perCent(): Amount {
    let amount = this.#operand();
    while (this.#is("%")) {
      const after = this.#tokens[this.#at + 1] ?? this.#next;
      if (beginsOperand(after)) return amount;
      if (after.type === "sign" && (after.sign === "-" || after.sign === "+"))
        throw new CalculatorError(
          `"%" before "${after.sign}" can be read in two ways: use parentheses.`,
          this.#next.position,
        );
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
    if (known === undefined) throw new CalculatorError(`There is no function ${name}.`, position);
    this.#expect("(");
    const [first, ...rest] = this.#list();
    const count = first === undefined ? 0 : rest.length + 1;
    if (first === undefined || count < known.least || count > known.most)
      throw new CalculatorError(`${name} does not take ${count} values.`, position);
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
    if (!this.#takes(sign)) throw new CalculatorError(`"${sign}" is missing.`, this.#next.position);
  }
}

const beginsOperand = (token: Token): boolean =>
  token.type === "number" || token.type === "name" || (token.type === "sign" && token.sign === "(");

function constant({ name, position }: { readonly name: string; readonly position: number }): Amount {
  const amount = Object.hasOwn(constants, name) ? constants[name] : undefined;
  if (amount !== undefined) return amount;
  throw new CalculatorError(
    `"${name}" is no constant; there are ${Object.keys(constants).join(", ")}.`,
    position,
  );
}

function finite(amount: Amount, position: number): Amount {
  if (amount.exact || Number.isFinite(amount.value)) return amount;
  if (Number.isNaN(amount.value)) throw new CalculatorError("This has no real value.", position);
  throw new CalculatorError("The result is too large.", position);
}

function unexpected(token: Token): CalculatorError {
  if (token.type === "end") return new CalculatorError("The expression ends too early.", token.position);
  if (token.type === "sign" && token.sign === ",")
    return new CalculatorError('"," separates values of a function; write 1000, not 1,000.', token.position);
  const shown = token.type === "name" ? token.name : token.type === "sign" ? token.sign : "a number";
  return new CalculatorError(`There should not be ${shown} here.`, token.position);
}
