import type { ControlMove } from "./state-edit.ts";

/** The control moves of an agent, in order. */
export interface Trace {
  readonly entries: readonly ControlMove[];
  readonly length: number;
  /** The moves that left this state. */
  forState(name: string): readonly ControlMove[];
  toJSON(): readonly ControlMove[];
  /** The trace as a text table, with one line for each move; a column has the notes and the calls if there are any. */
  toText(): string;
}

/** The trace of these moves. */
export const traceOf = (entries: readonly ControlMove[]): Trace => ({
  entries,
  length: entries.length,
  forState: (name) => entries.filter((entry) => entry.from === name),
  toJSON: () => entries,
  toText: () => table(entries),
});

const columns = ["#", "loop", "step", "state", "event", "to"] as const;

function table(entries: readonly ControlMove[]): string {
  const heads = entries.some(hasText) ? [...columns, "note"] : columns;
  const rows = entries.map((entry, index) => [
    ...[index + 1, entry.loop, entry.step, entry.from, entry.event, entry.to].map(String),
    ...(hasText(entry) ? [moveToText(entry)] : []),
  ]);
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(heads), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

/** The most characters of a note in the table. */
const maxNoteWidth = 120;

const hasText = ({ note, calls }: ControlMove): boolean => note !== undefined || calls !== undefined;

/** The note of a move, then its calls: each with its arguments, and with what it has returned. */
function moveToText({ note, calls = [] }: ControlMove): string {
  const noted = note === undefined ? [] : [note.text, JSON.stringify(note.data) ?? ""];
  const called = calls.map(
    ({ name, parameters, observation }) => `${name}(${parameters}) ${observation ?? ""}`,
  );
  const line = [...noted, ...called].join(" ").replaceAll(/\s+/g, " ").trim();
  return line.length <= maxNoteWidth ? line : `${line.slice(0, maxNoteWidth - 3).toWellFormed()}...`;
}
