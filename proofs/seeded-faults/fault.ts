/** Source text that is there exactly once, and what a careless hand would have made of it. */
export interface Change {
  readonly file: string;
  readonly text: string;
  readonly replacement: string;
}

/** A fault that a programmer might make, and the tests that have to notice. */
export interface Fault {
  /** Its number in scenario O01; those above 30 are ours. */
  readonly number: number;
  readonly name: string;
  readonly changes: readonly Change[];
  /** The files of tests that run. */
  readonly tests: readonly string[];
  /** One of these tests has to fail: their names, with those of their groups before them. */
  readonly caughtBy: RegExp;
  /** Whether the fault makes the program wait for ever: then a test that runs out of time has noticed it. */
  readonly hangs?: true;
}

/** A fault of one change. */
export const fault = (
  number: number,
  name: string,
  { file, text, replacement }: Change,
  tests: readonly string[],
  caughtBy: RegExp,
): Fault => ({ number, name, changes: [{ file, text, replacement }], tests, caughtBy });
