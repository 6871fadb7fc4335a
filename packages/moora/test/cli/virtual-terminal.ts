/**
 * What a terminal shows after a text was written to it. Understands the sequences that the command line and Node's
 * readline write; colors are left out.
 */
export function terminalLines(text: string): readonly string[] {
  const lines: string[] = [""];
  let [row, column] = [0, 0];
  const put = (character: string): void => {
    const line = (lines[row] ?? "").padEnd(column);
    lines[row] = line.slice(0, column) + character + line.slice(column + 1);
    column += 1;
  };
  for (const [token, number = "", command] of text
    .replaceAll("\u001b", "^")
    .matchAll(/\^\[(\d*)([A-Za-z])|[^]/g)) {
    const count = Number(number === "" ? 1 : number);
    if (command === "A") row = Math.max(0, row - count);
    else if (command === "C") column += count;
    else if (command === "D") column = Math.max(0, column - count);
    else if (command === "G") column = count - 1;
    else if (command === "K" || command === "J") {
      lines[row] = (lines[row] ?? "").slice(0, column);
      if (command === "J") lines.length = row + 1;
    } else if (token === "\r") column = 0;
    else if (token === "\n") {
      row += 1;
      column = 0;
      if (lines[row] === undefined) lines[row] = "";
    } else if (command === undefined) put(token);
  }
  return lines;
}
