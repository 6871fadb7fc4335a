import type { MaybePromise } from "../port.ts";

/** A row of a table: values by column. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** A value of a column that a session writes. */
export type SqlValue = string | number | null;

/**
 * The SQLite database of a log. Operations are synchronous; `what` says for an error what could not be done. Errors are converted to
 * `LogError`.
 */
export interface SqlDatabase {
  /** Incremented by each failed write: handles of an earlier epoch refuse to write. */
  readonly epoch: number;
  /** Runs an operation of one statement. */
  run<T>(what: string, operation: () => T): MaybePromise<T>;
  /** Runs an operation in which all queries see the same state of the database. */
  read<T>(what: string, operation: () => T): MaybePromise<T>;
  /** Runs an operation in a transaction, which is durable when this returns or resolves, for a handle of this epoch. */
  write<T>(what: string, epoch: number, operation: () => T): MaybePromise<T>;
  one(query: string, ...values: SqlValue[]): SqlRow | undefined;
  all(query: string, ...values: SqlValue[]): readonly SqlRow[];
  do(query: string, ...values: SqlValue[]): void;
}

/** Whose text it is: a session's header, its snapshot, or one of its records, by the number of that. */
export type TextOwner = "header" | "snapshot" | number;

/** How texts are stored that may be too long for one row. */
export interface RowTexts {
  /** Returns the part for the row of the owner, and stores the rest. */
  write(generation: number, owner: TextOwner, text: string): string;
  /** Returns the whole text, given the part in the row of the owner. */
  read(generation: number, owner: TextOwner, first: string): string;
  /** Deletes the rest of a text that is about to be replaced. */
  clear(generation: number, owner: TextOwner): void;
}

/** Each text in the row of its owner. */
export const wholeTexts: RowTexts = {
  write: (_generation, _owner, text) => text,
  read: (_generation, _owner, first) => first,
  clear: () => undefined,
};
