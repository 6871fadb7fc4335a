import type { EventLog, LogRecord } from "@moora/event-log";

/** The length of the bodies in one append, in characters; well below the limits of all logs. */
const maxBatchLength = 16_000_000;

/** Writes a whole session into a log. If an append fails, the incomplete session is removed. */
export async function writeSession(
  log: EventLog,
  id: string,
  header: string,
  records: readonly LogRecord[],
): Promise<void> {
  const session = await log.create(id, header);
  try {
    let seq = 0;
    for (const batch of batchesOf(records)) {
      await session.append(seq, batch);
      seq += batch.length;
    }
  } catch (error) {
    await log.remove(id);
    throw error;
  }
}

/** Records in batches that each log accepts as one append. */
export function batchesOf(records: readonly LogRecord[]): readonly (readonly LogRecord[])[] {
  const batches: LogRecord[][] = [[]];
  let length = 0;
  for (const record of records) {
    length += record.body.length;
    if (length > maxBatchLength && batches.at(-1)?.length !== 0) {
      batches.push([]);
      length = record.body.length;
    }
    batches.at(-1)?.push(record);
  }
  return batches;
}
