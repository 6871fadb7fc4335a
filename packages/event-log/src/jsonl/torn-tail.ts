import type { ChainHead } from "../chain.ts";
import { lineToRecord } from "./record-line.ts";

const sectorSize = 512;
const lineBreak = 10;

/** What was found after the header of a file, which has the length `offset`: complete batches of this length up to `head`. */
interface Found {
  readonly offset: number;
  readonly head: ChainHead;
  readonly length: number;
  readonly badLine: { readonly start: number } | undefined;
  readonly isDurable: boolean;
}

/**
 * Whether the bytes after the last complete batch can be the remains of one append that was never acknowledged. If not,
 * they are damage.
 *
 * A crash cuts the last append short at any byte; then no line break follows. A power cut may also keep late sectors and lose
 * early ones, which read as NUL; then a line is bad, and all lines after it belong to the same batch. In a relaxed log, any
 * number of appends may have been in progress.
 */
export function isTornTail(bytes: Buffer, { offset, head, length, badLine, isDurable }: Found): boolean {
  if (badLine === undefined) return true;
  if (!isDurable) return bytes.includes(0, badLine.start);
  return hasHole(bytes, offset, length) && restIsBatchAfter(head, bytes, badLine.start);
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
    const line = lineToRecord(bytes.toString("utf8", start, end));
    if (line !== undefined && line.record.seq - line.at !== head.seq) return false;
    start = end + 1;
  }
  return true;
}
