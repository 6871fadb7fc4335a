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

/** A record that was created together with its digest. It is frozen, so stores need neither copy it nor hash it again. */
class ChainedRecord implements LogRecord {
  readonly seq: number;
  readonly body: string;
  readonly changesDigest: string;
  readonly digest: string;
  readonly #previousDigest: string;

  constructor(head: ChainHead, body: string, changesDigest: string) {
    this.seq = head.seq + 1;
    this.body = body;
    this.changesDigest = changesDigest;
    this.digest = recordDigest(head.digest, body);
    this.#previousDigest = head.digest;
    Object.freeze(this);
  }

  static isChained(record: LogRecord): record is ChainedRecord {
    return #previousDigest in record;
  }

  /** Whether the digest of a record was computed from this previous digest when the record was created. */
  static isAfter(previousDigest: string, record: LogRecord): boolean {
    return #previousDigest in record && record.#previousDigest === previousDigest;
  }
}

/**
 * Creates the record that continues the chain from `head`. It is immutable. Appending it costs less than appending a record
 * with the same fields: it is not hashed a second time.
 */
export const recordAfter = (head: ChainHead, body: string, changesDigest: string): LogRecord =>
  new ChainedRecord(head, body, changesDigest);

/** Immutable copies of records, which their caller may change later. Records that are immutable already are not copied. */
export const copyRecords = (records: readonly LogRecord[]): readonly LogRecord[] =>
  records.map((record) => {
    if (ChainedRecord.isChained(record)) return record;
    const { seq, body, changesDigest, digest } = record;
    return Object.freeze({ seq, body, changesDigest, digest });
  });

/** Whether a record continues the chain that ends at `head`. */
export const follows = (head: ChainHead, record: LogRecord): boolean =>
  record.seq === head.seq + 1 &&
  (ChainedRecord.isAfter(head.digest, record) ||
    record.digest === recordDigest(head.digest, record.body) ||
    record.digest === formerDigest(head.digest, record));

/** The digest of a record as releases before the first stable format computed it: it covered `changesDigest` as well. */
const formerDigest = (previousDigest: string, { body, changesDigest }: LogRecord): string =>
  digestOf(previousDigest, body, changesDigest);

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
  let count = 0;
  for (const record of records) {
    if (!follows(last, record)) return { records: records.slice(0, count), damage: logCorrupt(last.seq + 1) };
    last = record;
    count += 1;
  }
  if (end === undefined || (last.seq === end.seq && last.digest === end.digest))
    return { records, damage: undefined };

  const firstBad = Math.min(last.seq + 1, Math.max(end.seq, 1));
  return { records: records.filter(({ seq }) => seq < firstBad), damage: logCorrupt(firstBad) };
}

/** What a store has for `read`: the head of the log, and the record `afterSeq`, if it is not 0, with at most `limit` records after it. */
export interface StoredTail {
  readonly afterSeq: number;
  readonly limit?: number | undefined;
  readonly head: ChainHead;
  readonly stored: readonly LogRecord[];
}

/** The records that `read` returns. Throws `LogCorrupt` for the first bad one, or for one that is missing before the head. */
export function checkedTail(
  header: string,
  { afterSeq, limit, head, stored }: StoredTail,
): readonly LogRecord[] {
  const before = afterSeq === 0 ? chainStart(header) : stored[0];
  if (before?.seq !== afterSeq) throw logCorrupt(afterSeq);
  const records = afterSeq === 0 ? stored : stored.slice(1);
  const isCut = records.length === limit && records.at(-1)?.seq !== head.seq;
  const { damage } = inspectChain(before, records, isCut ? undefined : head);
  if (damage !== undefined) throw damage;
  return records;
}

/** Creates the `LogCorrupt` error for the first bad or missing record. */
export const logCorrupt = (seq: number): LogError =>
  new LogError(
    "LogCorrupt",
    `The log is damaged: record ${seq} is missing or does not continue the record before it.`,
    { seq },
  );
