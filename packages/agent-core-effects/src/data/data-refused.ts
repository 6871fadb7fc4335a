import { MooraError } from "../errors/moora-error.ts";

/**
 * A change of application data was refused, and nothing was changed: its result does not fit the schema or is not JSON, or its
 * recipe is not synchronous. The message has the path of the value.
 */
export class DataRefused extends MooraError {
  override readonly name = "DataRefused";
  readonly code = "DataRefused";

  /** `problem` begins with the path of the value. */
  constructor(problem: string) {
    super(`The data was refused: ${problem}`);
  }
}
