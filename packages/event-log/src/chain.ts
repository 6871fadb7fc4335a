import { recordDigest, digestOf } from "./digest.ts";
import { LogError } from "./log-error.ts";
import type { LogInspection, LogRecord } from "./port.ts";

/** The end of a chain: its last sequence number and digest. */
export interface ChainHead {
  readonly seq: number;
  readonly digest: string;
}

/** The head of a log without records: sequence number 0 and the digest of its header. */
export const chainStart = (header: string): ChainHead => ({ seq: 0, digest: digestOf(header) });

/** Whether a record continues the chain that ends at `head`. */
export const follows = (head: ChainHead, record: LogRecord): boolean =>
  record.seq === head.seq + 1 &&
  record.digest === recordDigest(head.digest, record.body, record.changesDigest);

/** Returns the records if they continue the chain from `head`. Throws `LogCorrupt` with the `seq` of the first that does not. */
export function checkedChain(head: ChainHead, records: readonly LogRecord[]): readonly LogRecord[] {
  const { damage } = inspectChain(head, records);
  if (damage !== undefined) throw damage;
  return records;
}

/**
 * Splits stored records into those that continue the chain from `head` and the damage after them, if any. With `end`, for
 * stores that also store the head of the log, a last record that is not at `end` is damage too.
 */
export function inspectChain(
  head: ChainHead,
  records: readonly LogRecord[],
  end?: ChainHead,
): Pick<LogInspection, "records" | "damage"> {
  let last = head;
  for (const [index, record] of records.entries()) {
    if (!follows(last, record)) return { records: records.slice(0, index), damage: logCorrupt(last.seq + 1) };
    last = record;
  }
  if (end === undefined || (last.seq === end.seq && last.digest === end.digest))
    return { records, damage: undefined };

  const firstBad = Math.min(last.seq + 1, Math.max(end.seq, 1));
  return { records: records.filter(({ seq }) => seq < firstBad), damage: logCorrupt(firstBad) };
}

/** Creates the `LogCorrupt` error for the first bad or missing record. */
export const logCorrupt = (seq: number): LogError =>
  new LogError(
    "LogCorrupt",
    `The log is damaged: record ${seq} is missing or does not continue the record before it.`,
    { seq },
  );
