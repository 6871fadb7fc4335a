import { textDigest } from "./text-digest.ts";

/** The minimum limit, in characters or bytes, for a note about the whole text. Below it a truncated text ends in an ellipsis. */
const minForNote = 200;

/**
 * The text; or, if it is longer than `limit` characters, its beginning with a note about the length and a short digest of
 * the whole. The result, including the note, has at most `limit` characters. Surrogate pairs are not split.
 */
export function truncated(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const digest = limit < minForNote ? undefined : textDigest(text);
  const end = limit - noteOf(text, limit, digest).length;
  return end < 0 ? "" : cutAt(text, end, digest);
}

/** Like `truncated`, with a limit in bytes of UTF-8. */
export function truncatedToBytes(text: string, limitBytes: number): string {
  // A UTF-16 unit takes at most three bytes, so most texts need no counting.
  if (text.length * 3 <= limitBytes) return text;
  if (unitsThatFit(text, limitBytes) === text.length) return text;
  const digest = limitBytes < minForNote ? undefined : textDigest(text);
  const available = limitBytes - encoder.encode(noteOf(text, limitBytes, digest)).length;
  return available < 0 ? "" : cutAt(text, unitsThatFit(text, available), digest);
}

const encoder = new TextEncoder();

/** The number of UTF-16 units at the beginning that fit in a number of bytes, without a partial character. */
const unitsThatFit = (text: string, bytes: number): number =>
  encoder.encodeInto(text, new Uint8Array(bytes)).read;

function cutAt(text: string, most: number, digest: string | undefined): string {
  const last = text.charCodeAt(most - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? most - 1 : most;
  return text.slice(0, end) + noteOf(text, end, digest);
}

const noteOf = (text: string, end: number, digest: string | undefined): string =>
  digest === undefined
    ? "…"
    : `\n[cut: ${end} of ${text.length} characters shown, digest of the whole ${digest}]`;
