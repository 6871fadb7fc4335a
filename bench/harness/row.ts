/**
 * The goal of a row. `at-most` and `at-least` compare our figure with a value in the unit of the row; `times` compares the
 * ratio of our figure to the one beside it with a value.
 */
export interface Goal {
  readonly type: "at-most" | "at-least" | "times";
  readonly value: number;
}

export const atMost = (value: number): Goal => ({ type: "at-most", value });
export const atLeast = (value: number): Goal => ({ type: "at-least", value });
export const timesAtMost = (value: number): Goal => ({ type: "times", value });

/** Takes the samples of a row. */
export interface Sampler {
  /** The ways that are compared: ours first, then the floor or peer that the ratio refers to, then others. */
  readonly names: readonly string[];
  /** Runs the work for at least this long, so that the compiler is done with it. */
  readonly warmUp: (ms: number) => Promise<void>;
  /** Returns one sample of each way, in the order of the names and in the unit of the row. */
  readonly sample: (index: number) => Promise<readonly number[]>;
}

/** What the process of a suite has for its rows. */
export interface RowContext {
  /** A folder on a disk, the same for all processes of a run. */
  readonly directory: string;
  /** A PostgreSQL server for the run; a string says why there is none. */
  readonly postgres: { readonly url: string } | string;
  /** The folder of the installed peers. */
  readonly peers: string;
  /** Releases what a row has opened, after its samples. */
  readonly resources: AsyncDisposableStack;
}

/** A row of the table. */
export interface Row {
  /** `suite/row`, as the command line names it. */
  readonly name: string;
  readonly what: string;
  readonly unit: "µs" | "ms" | "ns" | "KB" | "MB" | "million/s";
  /** Default: none; the row is for information. */
  readonly goal?: Goal;
  readonly prepare: (context: RowContext) => Sampler | Promise<Sampler>;
}
