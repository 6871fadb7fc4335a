import { isUtf8 } from "node:buffer";
import { type ChainHead, follows } from "../chain.ts";
import type { LogRecord } from "../port.ts";
import { lineToRecord, type RecordLine } from "./record-line.ts";

/** The content of a range of a file: complete batches, and possibly other bytes after them. */
export interface Scan {
  readonly records: readonly LogRecord[];
  /** The head after the last complete batch, and the length of the complete batches in bytes. */
  readonly head: ChainHead;
  readonly length: number;
  /** The first complete line that is not the next record: its start, and the sequence number that it should have. */
  readonly badLine: { readonly start: number; readonly seq: number } | undefined;
}

export const lineBreak = 10;

/**
 * Reads lines after `head` while each is complete and continues the chain, up to the batch that has the record number `most`. Calls
 * `onBatchEnd` at the end of each batch.
 */
export function scan(
  bytes: Buffer,
  head: ChainHead,
  onBatchEnd: (head: ChainHead, length: number) => void = () => undefined,
  most: number = Infinity,
): Scan {
  const records: LogRecord[] = [];
  const isValidUtf8 = isUtf8(bytes);
  let last = head;
  let batch: RecordLine | undefined;
  let complete = { head, length: 0, count: 0 };
  for (let start = 0; start < bytes.length && complete.count < most;) {
    const end = bytes.indexOf(lineBreak, start);
    if (end < 0) break;
    const line = isValidUtf8 || isUtf8(bytes.subarray(start, end)) ? lineAt(bytes, start, end) : undefined;
    if (line === undefined || !continues(batch, line) || !follows(last, line.record)) {
      records.length = complete.count;
      return { records, head: complete.head, length: complete.length, badLine: { start, seq: last.seq + 1 } };
    }
    records.push(line.record);
    last = line.record;
    batch = line.at === line.of ? undefined : line;
    start = end + 1;
    if (batch !== undefined) continue;
    complete = { head: { seq: last.seq, digest: last.digest }, length: start, count: records.length };
    onBatchEnd(complete.head, complete.length);
  }
  records.length = complete.count;
  return { records, head: complete.head, length: complete.length, badLine: undefined };
}

export const lineAt = (bytes: Buffer, start: number, end: number): RecordLine | undefined =>
  lineToRecord(bytes.toString("utf8", start, end));

const continues = (batch: RecordLine | undefined, line: RecordLine): boolean =>
  batch === undefined ? line.at === 1 : line.at === batch.at + 1 && line.of === batch.of;
