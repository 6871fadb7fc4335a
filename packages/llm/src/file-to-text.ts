import type { LlmFile } from "./request.ts";

const textTypes = /^(text\/|application\/(json|xml|yaml|x-yaml|javascript|sql)\b|.*\+(json|xml)$)/i;

/** The text of a file that is text and lies here, or undefined. */
export function fileToText(file: LlmFile): string | undefined {
  if (!("data" in file) || !textTypes.test(file.mediaType)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(file.data), (character) => character.charCodeAt(0));
    return new TextDecoder().decode(bytes).toWellFormed();
  } catch {
    return undefined;
  }
}

/** What stands in the place of a file that an API does not take: its text, or its name and where it is, with a warning. */
export function fileToFallbackText(file: LlmFile, warn: (warning: string) => void): string {
  const text = fileToText(file);
  if (text !== undefined) return `File ${file.name ?? file.mediaType}:\n${text}`;
  warn(`${nameOf(file)} was left out: this API does not take it`);
  const where = "url" in file ? ` at ${file.url}` : "";
  return `(A file that cannot be shown here: ${nameOf(file)}${where}.)`;
}

/** A data URL, or the URL of the file. */
export const fileToUrl = (file: LlmFile): string =>
  "url" in file ? file.url : `data:${file.mediaType};base64,${file.data}`;

const nameOf = (file: LlmFile): string =>
  file.name === undefined ? file.mediaType : `${file.name} (${file.mediaType})`;
