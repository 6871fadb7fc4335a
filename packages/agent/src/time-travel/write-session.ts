import type { EventLog, LogRecord, SessionLog } from "@moora/event-log";
import { systemClock } from "../clock.ts";
import { closingClaim, isOfInterruptedWrite, newWriteHolder } from "../durable/closed-copy.ts";

/** The length of the bodies in one append, in characters; well below the limits of all logs. */
const maxBatchLength = 16_000_000;

/**
 * Writes a whole session into a log. It is closed until it has all records. If an append fails, the incomplete session is removed; if
 * the process ends, the next writing of the session removes it.
 */
export async function writeSession(
  log: EventLog,
  id: string,
  header: string,
  records: readonly LogRecord[],
): Promise<void> {
  const holder = newWriteHolder();
  const session = await createClosed(log, id, header, holder);
  try {
    let seq = 0;
    for (const batch of batchesOf(records)) {
      await session.append(seq, batch);
      seq += batch.length;
    }
    await session.release(holder);
  } catch (error) {
    await log.remove(id);
    throw error;
  }
}

async function createClosed(log: EventLog, id: string, header: string, holder: string): Promise<SessionLog> {
  const now = systemClock.now();
  const left = await (await log.open(id))?.currentLease();
  if (left !== undefined && isOfInterruptedWrite(left, now)) await log.remove(id);
  const claim = closingClaim(holder, now, "incomplete");
  const session = await log.create(id, header, claim);
  // A log of your own may ignore the claim.
  await session.lease(claim);
  return session;
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
