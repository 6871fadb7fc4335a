/** A source of choices: a whole number from 0 up to, not including, `count`. */
export type Choose = (count: number) => number;
