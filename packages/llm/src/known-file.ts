import { base64ToBytes } from "./data-url.ts";
import { fileToFallbackText, fileToName, urlToFile } from "./file-to-text.ts";
import type { FilePlace } from "./map-files.ts";
import type { LlmFile } from "./request.ts";
import { unsupportedWarning } from "./warnings.ts";

/** The images that every provider with images accepts. */
export const commonImages: RegExp = /^image\/(png|jpeg|gif|webp)$/;

/** The same, and PDF. */
export const commonFiles: RegExp = /^(image\/(png|jpeg|gif|webp)|application\/pdf)$/;

/** Types by the first bytes of a file, each byte as one character. */
const signatures: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF.{4}WEBP/s, "image/webp"],
  [/^.{4}ftyp(hei|hev|mif1|msf1)/s, "image/heic"],
  [/^(II\*\0|MM\0\*)/, "image/tiff"],
  [/^BM.{12}/s, "image/bmp"],
  [/^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<svg\b/s, "image/svg+xml"],
  // Readers accept bytes before the header of a document.
  [/%PDF-/, "application/pdf"],
];

/**
 * A file by its bytes: data in place of a data URL, base64 without white space and of the common alphabet, and the type that the first
 * bytes have. A file that has none of them, or no bytes, gets a type that no provider accepts.
 */
export function knownFile(given: LlmFile): LlmFile {
  const file = "url" in given ? urlToFile(given) : given;
  const lower = file.mediaType.trim().toLowerCase();
  const bare = /^(image|application)\//.test(lower) ? lower.replace(/\s*;.*$/s, "") : lower;
  const mediaType = bare.replace(/^image\/p?jpg$/, "image/jpeg");
  if ("url" in file) return { ...file, mediaType };
  const data = /[\s_-]/.test(file.data)
    ? file.data.replaceAll(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/")
    : file.data;
  return { ...file, data, mediaType: typeOfData(data, mediaType) };
}

function typeOfData(data: string, stated: string): string {
  const isOpen = /^(image\/|application\/((x-)?pdf|octet-stream)$|$)/.test(stated);
  const start = isOpen ? String.fromCharCode(...(base64ToBytes(data.slice(0, 1368)) ?? [])) : "";
  const found = signatures.find(([signature]) => signature.test(start))?.[1];
  if (found !== undefined) return found;
  if (data === "" && !stated.startsWith("text/")) return `empty ${stated}`;
  return commonImages.test(stated) || stated === "application/pdf" ? `invalid ${stated}` : stated;
}

/** The documented limits of a provider for the files of one request. Lengths are those of base64 text. Without a limit, any value is allowed. */
export interface FileLimits {
  readonly maxFiles?: number;
  readonly maxImageLength?: number;
  readonly maxTotalLength?: number;
}

/** The files that an API takes. Any other one is a text: its own, or its name. */
export interface FileRules extends FileLimits {
  /** The media types that it takes as data. Default: any. */
  readonly types?: RegExp;
  /** Whether it takes the URL of a file, in a result that has not failed or elsewhere. Default: by its type. */
  readonly takesUrl?: (
    file: { readonly url: string; readonly mediaType: string },
    isInResult: boolean,
  ) => boolean;
  /** Whether a failed result may have files. Default: true. */
  readonly inFailedResults?: boolean;
}

/** Returns a function that returns a file by its bytes, or a text for one that the API does not take. Call it for the newest files first. */
export function takenFiles(
  {
    types,
    takesUrl,
    inFailedResults = true,
    maxFiles = Infinity,
    maxImageLength = Infinity,
    maxTotalLength = Infinity,
  }: FileRules,
  warn: (warning: string) => void,
): (file: LlmFile, place: FilePlace) => LlmFile | string {
  let count = 0;
  let total = 0;
  const isTaken = (file: LlmFile, place: FilePlace): boolean => {
    if (place === "turn") return true;
    if (place === "failed-result" && !inFailedResults) return false;
    const isUrl = "url" in file && takesUrl !== undefined;
    return isUrl ? takesUrl(file, place === "result") : (types?.test(file.mediaType) ?? true);
  };
  return (given, place) => {
    const file = knownFile(given);
    if (!isTaken(file, place)) return fileToFallbackText(file, warn);
    if (!/^(image|audio|video)\/|^application\/pdf$/.test(file.mediaType)) return file;
    const length = "data" in file ? file.data.length : 0;
    const isLarge = file.mediaType.startsWith("image/") && length > maxImageLength;
    if (!isLarge && count < maxFiles && total + length <= maxTotalLength) {
      count += 1;
      total += length;
      return file;
    }
    warn(unsupportedWarning(fileToName(file), isLarge ? "a file of its size" : "as many files"));
    return fileToName(file);
  };
}
