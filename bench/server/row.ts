/** A line of the table of the server: what was measured, and its figure. */
export type ServerRow = readonly [what: string, figure: string];

export const whole = (value: number): string => Math.round(value).toLocaleString("en");
