import { base64OfUrl, base64ToBytes } from "./data-url.ts";
import type { LlmFile } from "./request.ts";
import { unsupportedWarning } from "./warnings.ts";

const textTypes = /^(text\/|application\/(json|xml|yaml|x-yaml|javascript|sql)\b|.*\+(json|xml)$)/i;

/** The text of a text file whose data is in the request; undefined for any other file, and for data that is not base64. */
export function fileToText(file: LlmFile): string | undefined {
  if (!("data" in file) || !textTypes.test(file.mediaType)) return undefined;
  const bytes = base64ToBytes(file.data);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes).toWellFormed();
}

/** Replaces a file that an API does not accept: by its text, otherwise by its name, type and URL, with a warning. */
export function fileToFallbackText(file: LlmFile, warn: (warning: string) => void): string {
  const text = fileToText(file);
  if (text !== undefined) return `File ${file.name ?? file.mediaType}:\n${text}`;
  warn(unsupportedWarning(nameOf(file), "this API"));
  return fileToName(file);
}

/** The text in place of a file that a request does not contain: its name, its type, and its address if it has a public one. */
export function fileToName(file: LlmFile): string {
  const location = "url" in file && /^https?:/i.test(file.url) ? ` at ${file.url}` : "";
  return `(File not shown: ${nameOf(file)}${location}.)`;
}

/** The URL of a file, or its data as a data URL. */
export const fileToUrl = (file: LlmFile): string =>
  "url" in file ? file.url : `data:${file.mediaType};base64,${file.data}`;

/** The file of a URL: base64 data for a data URL of base64, otherwise the URL itself. */
export function urlToFile(file: {
  readonly mediaType: string;
  readonly url: string;
  readonly name?: string;
}): LlmFile {
  const { mediaType, url, name } = file;
  const data = base64OfUrl(url);
  return { mediaType, ...(name === undefined ? {} : { name }), ...(data === undefined ? { url } : { data }) };
}

/** The media type of a data URL; undefined for any other URL. */
export const mediaTypeOf = (url: string): string | undefined => /^data:([^;,]+)[;,]/i.exec(url)?.[1];

const nameOf = (file: LlmFile): string =>
  file.name === undefined ? file.mediaType : `${file.name} (${file.mediaType})`;
