import { chained, digestOf } from "./digest.ts";
import { LogError } from "./log-error.ts";
import type { LogRecord } from "./port.ts";

/** Where a chain ends: its last sequence number and digest. */
export interface ChainHead {
  readonly seq: number;
  readonly digest: string;
}

/** The head of a log without records: 0, and the digest of its header. */
export const chainStart = (header: string): ChainHead => ({ seq: 0, digest: digestOf(header) });

/** Whether a record is the next one of the chain that ends at `head`. */
export const follows = (head: ChainHead, record: LogRecord): boolean =>
  record.seq === head.seq + 1 && record.digest === chained(head.digest, record.body, record.changed);

/** Gives back records that continue the chain from `head`. Throws `LogCorrupt` with the place of the first that does not. */
export function checkedChain(head: ChainHead, records: readonly LogRecord[]): readonly LogRecord[] {
  let last = head;
  for (const record of records) {
    if (!follows(last, record)) throw logCorrupt(last.seq + 1);
    last = record;
  }
  return records;
}

export const logCorrupt = (seq: number): LogError =>
  new LogError("LogCorrupt", `record ${seq} does not follow from what stands before it: the log is damaged`, {
    seq,
  });
