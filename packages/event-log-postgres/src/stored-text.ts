/**
 * Escapes NUL, which a `text` column cannot contain, as U+0001 "0", and U+0001 as U+0001 "1". Texts without these two characters,
 * such as all compact JSON, are stored unchanged.
 */
export const textToStored = (text: string): string =>
  text.includes("\u0001") || text.includes("\0")
    ? text.replaceAll("\u0001", "\u00011").replaceAll("\0", "\u00010")
    : text;

/** Reverses {@link textToStored}. */
export const storedToText = (stored: string): string =>
  stored.includes("\u0001") ? stored.replaceAll("\u00010", "\0").replaceAll("\u00011", "\u0001") : stored;
