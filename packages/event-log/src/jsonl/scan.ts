import { isUtf8 } from "node:buffer";
import { type ChainHead, follows } from "../chain.ts";
import type { LogRecord } from "../port.ts";
import { lineToRecord, type RecordLine } from "./record-line.ts";

/** What a stretch of a file holds: whole batches of records, and perhaps something else after them. */
export interface Scan {
  readonly records: readonly LogRecord[];
  /** The head after the last whole batch, and how many bytes that is. */
  readonly head: ChainHead;
  readonly length: number;
  /** The first line, ended by a line break, that is not the next record: where it stands and what it should be. */
  readonly bad: { readonly start: number; readonly seq: number } | undefined;
}

export const lineBreak = 10;

/** Reads lines from `head` on, as long as each is whole and continues the chain. `passed` hears of each batch's end. */
export function scan(
  bytes: Buffer,
  head: ChainHead,
  passed: (head: ChainHead, length: number) => void = () => undefined,
): Scan {
  const records: LogRecord[] = [];
  const isSound = isUtf8(bytes);
  let last = head;
  let batch: RecordLine | undefined;
  let whole = { head, length: 0, count: 0 };
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(lineBreak, start);
    if (end < 0) break;
    const line = isSound || isUtf8(bytes.subarray(start, end)) ? lineAt(bytes, start, end) : undefined;
    if (line === undefined || !continues(batch, line) || !follows(last, line.record)) {
      records.length = whole.count;
      return { records, head: whole.head, length: whole.length, bad: { start, seq: last.seq + 1 } };
    }
    records.push(line.record);
    last = line.record;
    batch = line.at === line.of ? undefined : line;
    start = end + 1;
    if (batch !== undefined) continue;
    whole = { head: { seq: last.seq, digest: last.digest }, length: start, count: records.length };
    passed(whole.head, whole.length);
  }
  records.length = whole.count;
  return { records, head: whole.head, length: whole.length, bad: undefined };
}

export const lineAt = (bytes: Buffer, start: number, end: number): RecordLine | undefined =>
  lineToRecord(bytes.toString("utf8", start, end));

const continues = (batch: RecordLine | undefined, line: RecordLine): boolean =>
  batch === undefined ? line.at === 1 : line.at === batch.at + 1 && line.of === batch.of;
