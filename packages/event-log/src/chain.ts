import { chained, digestOf } from "./digest.ts";
import { LogError } from "./log-error.ts";
import type { LogInspection, LogRecord } from "./port.ts";

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

/** Returns records that continue the chain from `head`. Throws `LogCorrupt` naming the first that does not. */
export function checkedChain(head: ChainHead, records: readonly LogRecord[]): readonly LogRecord[] {
  const { damage } = soundPart(head, records);
  if (damage !== undefined) throw damage;
  return records;
}

/**
 * The records that continue the chain from `head`, up to the first that does not. Where the store keeps the log's end
 * besides, records that are missing there, or are others, are damage too.
 */
export function soundPart(
  head: ChainHead,
  records: readonly LogRecord[],
  end?: ChainHead,
): Pick<LogInspection, "records" | "damage"> {
  let last = head;
  for (const [index, record] of records.entries()) {
    if (!follows(last, record)) return { records: records.slice(0, index), damage: logCorrupt(last.seq + 1) };
    last = record;
  }
  if (end === undefined || (last.seq === end.seq && last.digest === end.digest)) {
    return { records, damage: undefined };
  }
  const bad = Math.min(last.seq + 1, Math.max(end.seq, 1));
  return { records: records.filter(({ seq }) => seq < bad), damage: logCorrupt(bad) };
}

export const logCorrupt = (seq: number): LogError =>
  new LogError(
    "LogCorrupt",
    `The log is damaged: record ${seq} is missing or does not continue the record before it.`,
    { seq },
  );
