import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/workspace.ts";

/** A table of a reference page, and the comment above it that says what it lists. */
export interface ReferenceTable {
  readonly subject: string;
  readonly rows: readonly (readonly string[])[];
}

/** The tables of a page that a comment such as `<!-- fields of OpenOptions, @moora/agent -->` precedes. */
export function tablesOf(page: string): readonly ReferenceTable[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^<!-- (.+) -->\n\n((?:\|.*\n?)+)/gm)].map(([, subject = "", table = ""]) => ({
    subject,
    rows: table.trim().split("\n").slice(2).map(cellsOf),
  }));
}

/** The cells of a row. A vertical bar within a cell is written as `\|`. */
const cellsOf = (line: string): readonly string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

/** The text of a cell that is one piece of code, undefined for other text. */
export const codeIn = (cell: string): string | undefined => /^`([^`]*)`$/.exec(cell)?.[1];
