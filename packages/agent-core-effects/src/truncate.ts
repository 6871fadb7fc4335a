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

/**
 * 16 hexadecimal digits that are equal for equal texts: two FNV-1a hashes of 32 bits over UTF-16 units, with a final mix.
 * It helps to distinguish results, and is not resistant to constructed collisions.
 */
function textDigest(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x9e3779b1;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b);
  }
  return hex(a) + hex(b);
}

function hex(hash: number): string {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0).toString(16).padStart(8, "0");
}
