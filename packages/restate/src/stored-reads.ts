import { digestOf, type LogRecord } from "@moora/event-log";
import { byteLength, pageBytes } from "./message-limits.ts";
import type { View, ViewQuery } from "./session-messages.ts";
import { readStored, type SharedContext } from "./stored-session.ts";

/** Reads a session for a caller who has its state at a head, or who has nothing. */
export async function readView(ctx: SharedContext, known: ViewQuery | null): Promise<View | null> {
  const stored = await readStored(ctx);
  if (stored === null) return null;
  const { header, head } = stored;
  const { seq, digest, snapshot } = head;
  const after = known?.header === digestOf(header) ? known.after : undefined;
  const isContinued =
    after !== undefined &&
    after.seq >= snapshot.seq &&
    (after.seq < seq || (after.seq === seq && after.digest === digest));
  const records = await readPage(ctx, isContinued ? after.seq : snapshot.seq, seq);
  return isContinued ? { seq, records } : { seq, records, header, snapshot };
}

/** How many records of unknown length are read at the same time at first. */
const firstReads = 8;

/**
 * Reads the records after `after`, up to `last`: as many as a page can contain, and at least one if there are any. They are read in
 * growing groups, so that what is read is not much longer than what fits.
 */
export async function readPage(
  ctx: SharedContext,
  after: number,
  last: number,
): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  let [bytes, seq] = [0, after];
  for (let count = firstReads; seq < last; count *= 2) {
    for (const record of await readGroup(ctx, seq, Math.min(last, seq + count))) {
      bytes += byteLength(JSON.stringify(record));
      if (bytes > pageBytes && records.length > 0) return records;
      records.push(record);
    }
    seq += count;
  }
  return records;
}

async function readGroup(ctx: SharedContext, after: number, last: number): Promise<readonly LogRecord[]> {
  const reads = Array.from({ length: last - after }, (_, index) => ctx.get(`log/${after + index + 1}`));
  const records: LogRecord[] = [];
  for (const read of reads) {
    const record = await read;
    if (record !== null) records.push(record);
  }
  return records;
}
