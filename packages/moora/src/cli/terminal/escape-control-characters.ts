/**
 * The text with escapes in place of characters that a terminal interprets or hides: output of models and tools is untrusted,
 * and a question must show its real content. Line ends and tabs stay.
 */
export const escapeControlCharacters = (text: string): string =>
  text
    .replaceAll(/\r\n/g, "\n")
    .replaceAll(/[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return `\\x${code.toString(16).padStart(2, "0")}`;
    });
