import type { EventLog, LogRecord } from "@moora/event-log";
import { nextTurn } from "@moora/event-log/store";
import { splitIntoAppends } from "../durable/appends.ts";
import { SessionError } from "../durable/session-error.ts";
import { removeInterruptedWrite } from "../durable/unfinished-write.ts";
import { WriteClaim } from "./write-claim.ts";

/** Records in batches that each log accepts as one append, and that a log in this process stores in some milliseconds. */
export const batchesOf = (records: readonly LogRecord[]): readonly (readonly LogRecord[])[] =>
  splitIntoAppends(records, 16_000_000, 500);

/**
 * Writes a whole session into a log. It is closed until it has all records. If an append fails, the incomplete session is removed; if
 * the process ends, the next writing of the session removes it, or `pruneSessions`. Rejects with `LogExists` for a session that
 * the log has, with `InvalidOption` for a log whose sessions an engine owns, and with `StaleWriter` if another process has taken the
 * claim, which this one has not renewed in time.
 */
export async function writeSession(
  log: EventLog,
  id: string,
  header: string,
  records: readonly LogRecord[],
): Promise<void> {
  if (log.owner !== undefined) throw ownedError(log, log.owner);
  await removeInterruptedWrite(log, id);
  const claim = await WriteClaim.create(log, id, header);
  try {
    let seq = 0;
    for (const batch of batchesOf(records)) {
      await claim.renewIfDue();
      await claim.session.append(seq, batch);
      seq += batch.length;
      if (seq < records.length) await new Promise<void>(nextTurn);
    }
    await claim.release();
  } catch (error) {
    // What is left is closed, and counts as interrupted.
    await claim.discard().catch(() => undefined);
    throw error;
  }
}

const ownedError = ({ name }: EventLog, owner: string): SessionError =>
  new SessionError(
    "InvalidOption",
    `The log "${name}" does not accept forks or imports: ${owner} writes its records. Use another log.`,
  );
