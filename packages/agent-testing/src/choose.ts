/** A source of choices. Returns an integer from 0 up to, but not including, `count`. */
export type Choose = (count: number) => number;
