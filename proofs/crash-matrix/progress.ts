import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";

/** The results of all deaths of one transcript on one store. */
export interface Row {
  readonly store: string;
  readonly transcript: string;
  readonly cases: number;
  readonly kills: number;
  readonly failures: readonly string[];
}

/** Rows that are done, kept in a file, where there is one, so that an interrupted proof continues where it stopped. */
export class Progress {
  readonly #file: string | undefined;
  readonly rows: Row[];

  constructor(file: string | undefined, isFresh: boolean) {
    this.#file = file;
    if (file !== undefined && isFresh) rmSync(file, { force: true });
    this.rows = file !== undefined && existsSync(file) ? linesOf(readFileSync(file, "utf8")) : [];
  }

  /** Rows with failures are not kept, and so are tried again. */
  has(store: string, transcript: string): boolean {
    return this.rows.some((row) => row.store === store && row.transcript === transcript);
  }

  add(row: Row): void {
    this.rows.push(row);
    if (this.#file !== undefined && row.failures.length === 0)
      appendFileSync(this.#file, `${JSON.stringify(row)}\n`);
  }
}

/** Whole lines only: the last one may have been broken off. */
const linesOf = (text: string): Row[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line): Row => JSON.parse(line));
