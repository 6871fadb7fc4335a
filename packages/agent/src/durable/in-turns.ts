import type { LogRecord, SessionLog } from "@moora/event-log";
import { nextTurn } from "../session/start-queue.ts";

/** The items that are processed before the event loop has a turn, for timers, I/O and the work of others. */
const itemsPerTurn = 200;

/** The records that one read of a log returns: each read of a remote log is a request. */
const recordsPerRead = 1_000;

/**
 * Calls `work` with each item, in order, and waits where it returns a promise. Yields to the event loop after every `itemsPerTurn` of
 * them.
 */
export async function inTurns<Item>(
  items: Iterable<Item>,
  work: (item: Item) => void | Promise<void>,
): Promise<void> {
  let count = 0;
  for (const item of items) {
    const done = work(item);
    if (done !== undefined) await done;
    count += 1;
    if (count % itemsPerTurn === 0) await new Promise<void>(nextTurn);
  }
}

/** Reads the records after a sequence number as `SessionLog.read` does, part by part where the log can read parts. */
export async function readInTurns(log: SessionLog, afterSeq: number = 0): Promise<readonly LogRecord[]> {
  const parts: (readonly LogRecord[])[] = [];
  for (let seq = afterSeq; ; seq += recordsPerRead) {
    const part = await log.read(seq, recordsPerRead);
    parts.push(part);
    if (part.length !== recordsPerRead) return parts.flat();
    await new Promise<void>(nextTurn);
  }
}
