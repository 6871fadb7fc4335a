import { escapeHiddenCharacters } from "@moora/agent";

/**
 * The text with escapes in place of characters that a terminal interprets or hides: output of models and tools is untrusted,
 * and a question must show its real content. Line ends and tabs stay.
 */
export const escapeControlCharacters = (text: string): string =>
  escapeHiddenCharacters(text.replaceAll(/\r\n/g, "\n"));
