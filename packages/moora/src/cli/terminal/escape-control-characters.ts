/**
 * The text without characters that a terminal would obey or hide: models and tools pass on text of unknown origin, and
 * a question must look like what it is. Line ends and tabs stay.
 */
export const escapeControlCharacters = (text: string): string =>
  text
    .replaceAll(/\r\n/g, "\n")
    .replaceAll(/[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return `\\x${code.toString(16).padStart(2, "0")}`;
    });
