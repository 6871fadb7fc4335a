/** Characters of arguments and results in one line. */
const maxLine = 120;

/** A text as one line, shortened. */
export const oneLine = (text: string, most: number = maxLine): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most).toWellFormed()}...`;
};

/** What a tool returned, in a few words. */
export function resultSummary(content: string): string {
  const lines = content.split("\n").length;
  return lines === 1 ? oneLine(content) : `${lines} lines`;
}
