import { MooraError } from "../errors/moora-error.ts";

/**
 * A change of application data was refused, and nothing was changed: its result does not fit the schema or is not JSON, or its
 * recipe is not synchronous. Also thrown for stored data that the agent which opens it cannot use. `problem` has the path of the
 * value.
 */
export class DataRefused extends MooraError {
  override readonly name = "DataRefused";
  readonly code = "DataRefused";
  readonly problem: string;

  constructor(problem: string, options?: ErrorOptions) {
    super(`The data was refused: ${problem}`, options);
    this.problem = problem;
  }
}
