/** An invalid expression. `position` counts characters from 1. */
export class CalculatorError extends Error {
  override readonly name = "CalculatorError";
  readonly position: number;

  constructor(problem: string, position: number) {
    super(`${problem} (at position ${position})`);
    this.position = position;
  }
}
