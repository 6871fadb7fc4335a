import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/workspace.ts";

/** A table or a list of a reference page, and the comment above it that says what it lists. */
export interface ReferenceTable {
  readonly subject: string;
  readonly rows: readonly (readonly string[])[];
}

/** The tables and lists of a page that a comment such as `<!-- fields of OpenOptions, @moora/agent -->` precedes. */
export function tablesOf(page: string): readonly ReferenceTable[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^<!-- (.+) -->\n\n((?:\|.*\n?)+|(?:- .*\n?)+)/gm)].map(
    ([, subject = "", shown = ""]) => {
      const lines = shown.trim().split("\n");
      return { subject, rows: shown.startsWith("|") ? lines.slice(2).map(cellsOf) : lines.map(partsOf) };
    },
  );
}

/** The name, the default and the meaning of an item: ``- `name` (default): Meaning.`` The default may be missing. */
const partsOf = (item: string): readonly string[] =>
  /^- (`[^`]+`)(?: \((.*?)\))?: (.*)$/
    .exec(item)
    ?.slice(1)
    .map((part) => part ?? "") ?? [item];

/** The cells of a row. A vertical bar within a cell is written as `\|`. */
const cellsOf = (line: string): readonly string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

/** The text of a cell that is one piece of code, undefined for other text. */
export const codeIn = (cell: string): string | undefined => /^`([^`]*)`$/.exec(cell)?.[1];

/** Every piece of code in a cell. */
export const codesIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]*)`/g)].map(([, code = ""]) => code);
