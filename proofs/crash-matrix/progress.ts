import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** What came of all deaths of one transcript on one store. */
export interface Row {
  readonly store: string;
  readonly transcript: string;
  readonly cases: number;
  readonly kills: number;
  readonly failures: readonly string[];
}

/** Rows that are done, kept in a file, so that a proof that was broken off goes on where it was. */
export class Progress {
  readonly #file: string;
  readonly rows: Row[];

  constructor(file: string, isFresh: boolean) {
    this.#file = file;
    mkdirSync(dirname(file), { recursive: true });
    if (isFresh) rmSync(file, { force: true });
    this.rows = existsSync(file) ? linesOf(readFileSync(file, "utf8")) : [];
  }

  /** Rows with failures are tried again. */
  has(store: string, transcript: string): boolean {
    return this.rows.some((row) => row.store === store && row.transcript === transcript);
  }

  add(row: Row): void {
    this.rows.push(row);
    if (row.failures.length === 0) appendFileSync(this.#file, `${JSON.stringify(row)}\n`);
  }
}

/** Whole lines only: the last one may have been broken off. */
const linesOf = (text: string): Row[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line): Row => JSON.parse(line));
