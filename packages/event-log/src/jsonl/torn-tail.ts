import type { ChainHead } from "../chain.ts";
import { lineAt, lineBreak, type Scan } from "./scan.ts";

const sectorSize = 512;

/**
 * Whether what stands after the last whole batch can be the remains of one append that was never acknowledged. If not,
 * it is damage. `bytes` are the file from `offset` on, which `found` was read from.
 *
 * A crash cuts the last append anywhere; then no line break follows. A power cut may also keep late sectors of it and
 * lose early ones, which read as NUL; then a line is bad, and all that follows it belongs to the same batch. Under
 * `relaxed` any number of appends may have been on their way.
 */
export function isTornTail(bytes: Buffer, offset: number, found: Scan, isDurable: boolean): boolean {
  if (found.bad === undefined) return true;
  if (!isDurable) return bytes.includes(0, found.bad.start);
  return hasHole(bytes, offset, found.length) && restIsBatchAfter(found.head, bytes, found.bad.start);
}

/** Whether a sector, or the part of one that was to be written, is all NUL. No record ever holds that byte. */
function hasHole(bytes: Buffer, offset: number, from: number): boolean {
  for (let start = from; start < bytes.length;) {
    const end = Math.min(bytes.length, start + sectorSize - ((offset + start) % sectorSize));
    if (bytes.subarray(start, end).every((byte) => byte === 0)) return true;
    start = end;
  }
  return false;
}

/** Whether every readable line after the bad one is of the batch that begins right after `head`. */
function restIsBatchAfter(head: ChainHead, bytes: Buffer, badLine: number): boolean {
  for (let start = bytes.indexOf(lineBreak, badLine) + 1; start < bytes.length;) {
    const end = bytes.indexOf(lineBreak, start);
    if (end < 0) return true;
    const line = lineAt(bytes, start, end);
    if (line !== undefined && line.record.seq - line.at !== head.seq) return false;
    start = end + 1;
  }
  return true;
}
