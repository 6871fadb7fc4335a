/** A table of text. Columns are aligned to the left unless `toTheRight` contains their index. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  toTheRight: readonly number[] = heads.map((_, column) => column).slice(1),
): string {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    heads
      .map((_, column) => {
        const cell = cells[column] ?? "";
        const width = widths[column] ?? 0;
        return toTheRight.includes(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("   ")
      .trimEnd();
  return [heads, ...rows].map(line).join("\n");
}
