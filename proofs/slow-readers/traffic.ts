/** What the server of the proof reports of its memory. */
export interface Memory {
  /** The largest resident set so far. */
  readonly peakBytes: number;
}

/** A piece of the streamed answer. */
export const tokenAt = (index: number): string => `word ${index} of many, `;

/** The whole answer. */
export const textOf = (tokens: number): string =>
  Array.from({ length: tokens }, (_, index) => tokenAt(index)).join("");
