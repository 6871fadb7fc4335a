import type { RowTexts, TextOwner } from "@moora/event-log/store";
import type { ObjectSql } from "../platform.ts";
import { sqlText } from "../sql-text.ts";

/**
 * The longest text of a row, in UTF-16 code units, which are at most 1.5 MB in UTF-8. The platform limits a row to 2 MB, keys and
 * other columns included.
 */
const maxRowText = 500_000;

/** The name of an owner in the rows of parts. */
const nameOf = (owner: TextOwner): string => (typeof owner === "number" ? `record ${owner}` : owner);

/** Where a pair of surrogates would be divided, the part is one code unit shorter: SQLite stores well-formed text only. */
const partLength = (text: string, start: number): number =>
  text.slice(start, start + maxRowText).isWellFormed() ? maxRowText : maxRowText - 1;

/** Stores texts that may be too long for one row: the first part in the row of their owner, the others in rows of their own. */
export class LongTexts implements RowTexts {
  readonly #sql: ObjectSql;

  constructor(sql: ObjectSql) {
    this.#sql = sql;
  }

  /** Returns the part for the row of the owner, and stores the others. */
  write(generation: number, owner: TextOwner, text: string): string {
    if (text.length <= maxRowText) return text;
    const first = partLength(text, 0);
    let part = 0;
    for (let at = first; at < text.length; part += 1) {
      const length = partLength(text, at);
      this.#sql.exec(
        "INSERT INTO moora_parts VALUES (?, ?, ?, ?)",
        generation,
        nameOf(owner),
        part,
        text.slice(at, at + length),
      );
      at += length;
    }
    return text.slice(0, first);
  }

  /** Returns the whole text, given the part in the row of the owner. */
  read(generation: number, owner: TextOwner, first: string): string {
    // A shorter part has no others.
    if (first.length < maxRowText - 1) return first;
    const parts = this.#sql
      .exec(
        "SELECT body FROM moora_parts WHERE generation = ? AND owner = ? ORDER BY part",
        generation,
        nameOf(owner),
      )
      .toArray();
    return first + parts.map(({ body }) => sqlText(body)).join("");
  }

  /** Deletes the other parts of a text that is about to be replaced. */
  clear(generation: number, owner: TextOwner): void {
    this.#sql.exec("DELETE FROM moora_parts WHERE generation = ? AND owner = ?", generation, nameOf(owner));
  }
}
