import type { ControlMove } from "./state-edit.ts";
import type { TraceNote } from "./trace-note.ts";

/** The control moves of an agent, in order. */
export interface Trace {
  readonly entries: readonly ControlMove[];
  readonly length: number;
  /** The moves that left this state. */
  forState(name: string): readonly ControlMove[];
  toJSON(): readonly ControlMove[];
  /** The trace as a text table, with one line for each move; a column has the notes if there are any. */
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
  const heads = entries.some(({ note }) => note !== undefined) ? [...columns, "note"] : columns;
  const rows = entries.map((entry, index) => [
    ...[index + 1, entry.loop, entry.step, entry.from, entry.event, entry.to].map(String),
    ...(entry.note === undefined ? [] : [noteToText(entry.note)]),
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

function noteToText({ text, data }: TraceNote): string {
  const line = `${text}${data === undefined ? "" : ` ${JSON.stringify(data)}`}`.replaceAll(/\s+/g, " ");
  return line.length <= maxNoteWidth ? line : `${line.slice(0, maxNoteWidth - 3).toWellFormed()}...`;
}
