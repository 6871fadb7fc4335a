import type { ChainHead } from "../chain.ts";
import { lineAt, lineBreak, type Scan } from "./scan.ts";

const sectorSize = 512;

/**
 * Whether the bytes after the last complete batch can be the remains of one append that was never acknowledged. If not,
 * they are damage. `bytes` is the file from `offset` on, and `found` is its scan.
 *
 * A crash cuts the last append short at any byte; then no line break follows. A power cut may also keep late sectors and lose
 * early ones, which read as NUL; then a line is bad, and all lines after it belong to the same batch. In a relaxed log, any
 * number of appends may have been in progress.
 */
export function isTornTail(bytes: Buffer, offset: number, found: Scan, isDurable: boolean): boolean {
  if (found.badLine === undefined) return true;
  if (!isDurable) return bytes.includes(0, found.badLine.start);
  return hasHole(bytes, offset, found.length) && restIsBatchAfter(found.head, bytes, found.badLine.start);
}

/** Whether a sector, or the written part of one, is all NUL. Records never contain that byte. */
function hasHole(bytes: Buffer, offset: number, from: number): boolean {
  for (let start = from; start < bytes.length;) {
    const end = Math.min(bytes.length, start + sectorSize - ((offset + start) % sectorSize));
    if (bytes.subarray(start, end).every((byte) => byte === 0)) return true;
    start = end;
  }
  return false;
}

/** Whether every valid line after the bad one belongs to the batch that begins after `head`. */
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
