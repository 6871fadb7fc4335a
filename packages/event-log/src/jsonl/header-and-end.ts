import { isUtf8 } from "node:buffer";
import type { Files } from "./files.ts";
import { damagedHeader, type HeaderLine, lineToHeader } from "./header-line.ts";
import type { Offset } from "./offset-index.ts";
import { lineAt, lineBreak, scan } from "./scan.ts";

const firstHeaderBytes = 4 * 1024;
const firstTailBytes = 32 * 1024;

/** The first line of a file, and its length in bytes. */
export function readHeader(files: Files, fd: number): { readonly line: HeaderLine; readonly length: number } {
  for (let size = firstHeaderBytes; ; size *= 8) {
    const bytes = files.bytes(fd, 0, size);
    const end = bytes.indexOf(lineBreak);
    if (end >= 0 && isUtf8(bytes.subarray(0, end)))
      return { line: lineToHeader(bytes.toString("utf8", 0, end)), length: end + 1 };

    if (bytes.length === 0) throw damagedHeader("Its file is empty.");
    if (end < 0 && bytes.length < size) throw damagedHeader("Its file ends within the first line.");
    if (end >= 0) throw damagedHeader();
  }
}

/**
 * Finds the end of the log from the last lines of its file, without reading the lines before, which a later `read` checks.
 * Returns the offset at which it started and the end; undefined when the last lines are not complete batches.
 */
export function findLogEnd(
  files: Files,
  fd: number,
  start: Offset,
  size: number,
): readonly [Offset, Offset] | undefined {
  if (size === start.offset) return [start, start];
  for (let length = firstTailBytes; ; length *= 16) {
    const from = Math.max(start.offset, size - length);
    const bytes = files.bytes(fd, from, size);
    const first = from === start.offset ? start : firstOffset(bytes, from);
    const end = first === undefined ? undefined : endAfter(first, bytes.subarray(first.offset - from));
    if (first !== undefined && end !== undefined) return [first, end];
    if (from === start.offset) return undefined;
  }
}

/** The end of the first complete batch that begins within the bytes. Its digests are not checked. */
function firstOffset(bytes: Buffer, offset: number): Offset | undefined {
  for (let start = bytes.indexOf(lineBreak) + 1; start > 0;) {
    const end = bytes.indexOf(lineBreak, start);
    const line = end < 0 ? undefined : lineAt(bytes, start, end);
    if (line === undefined) return undefined;
    start = end + 1;
    const { record, at, of } = line;
    if (at === of) return { offset: offset + start, head: { seq: record.seq, digest: record.digest } };
  }
  return undefined;
}

function endAfter(first: Offset, bytes: Buffer): Offset | undefined {
  const { head, length } = scan(bytes, first.head);
  return length === 0 || length < bytes.length ? undefined : { offset: first.offset + length, head };
}
