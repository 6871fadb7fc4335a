/** Characters of arguments and results in one line. */
const maxLine = 120;

/** A text as one line, truncated. */
export const oneLine = (text: string, most: number = maxLine): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most).toWellFormed()}...`;
};

/** A short description of the result of a tool. */
export function resultSummary(content: string): string {
  const lines = content.split("\n").length;
  return lines === 1 ? oneLine(content) : `${lines} lines`;
}
