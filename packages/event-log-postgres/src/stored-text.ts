/**
 * PostgreSQL's text cannot hold NUL. It is kept as U+0001 "0", and U+0001 itself as U+0001 "1": texts without these two
 * characters, and so all JSON, stand in the tables as they are.
 */
export const textToStored = (text: string): string =>
  text.includes("\u0001") || text.includes("\0")
    ? text.replaceAll("\u0001", "\u00011").replaceAll("\0", "\u00010")
    : text;

export const storedToText = (stored: string): string =>
  stored.includes("\u0001") ? stored.replaceAll("\u00010", "\0").replaceAll("\u00011", "\u0001") : stored;
