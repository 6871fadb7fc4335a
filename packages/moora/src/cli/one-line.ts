/** Characters of arguments and results in one line. */
const maxLine = 120;

/** A text as one line that a terminal can show. */
export const oneLine = (text: string, most: number = maxLine): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most).toWellFormed()}...`;
};

/** What a tool gave, in a few words. */
export function summaryOf(content: string): string {
  const lines = content.split("\n").length;
  return lines === 1 ? oneLine(content) : `${lines} lines`;
}
