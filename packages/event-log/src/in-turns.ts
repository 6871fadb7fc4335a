import { checkedChain, logCorrupt, type ChainHead } from "./chain.ts";
import { LogError } from "./log-error.ts";
import type { LogInspection, LogRecord, SessionLog } from "./port.ts";

/** The records that one read of a log returns: each read of a remote log is a request. */
const recordsPerRead = 1_000;

const immediate: unknown = Reflect.get(globalThis, "setImmediate");

/** Calls back in the next turn of the event loop, also where a test has replaced the timers after this module was loaded. */
export function nextTurn(callback: () => void): void {
  if (typeof immediate === "function") Reflect.apply(immediate, undefined, [callback]);
  else setTimeout(callback, 0);
}

type Readable = Pick<SessionLog, "read">;

/**
 * Reads the records after a sequence number up to another as `SessionLog.read` does, part by part where the log can read parts, and calls
 * `take` with each part. The event loop has a turn, for timers, I/O and the work of others, between two of them.
 */
export async function readParts(
  log: Readable,
  { afterSeq = 0, upTo = Infinity }: { readonly afterSeq?: number; readonly upTo?: number },
  take: (part: readonly LogRecord[]) => void,
): Promise<void> {
  for (let seq = afterSeq; seq < upTo; seq += recordsPerRead) {
    const limit = Math.min(recordsPerRead, upTo - seq);
    const part = await log.read(seq, limit);
    take(part);
    if (part.length !== limit) return;
    await new Promise<void>(nextTurn);
  }
}

/** All records of `readParts`. */
export async function readInTurns(log: Readable, afterSeq: number = 0): Promise<readonly LogRecord[]> {
  const parts: (readonly LogRecord[])[] = [];
  await readParts(log, { afterSeq }, (part) => parts.push(part));
  return parts.flat();
}

/** What `SessionLog.inspect` returns, for a store whose `read` returns no more than `limit` records. */
export async function inspectInTurns(log: Readable): Promise<LogInspection> {
  const records: LogRecord[] = [];
  const take = (part: readonly LogRecord[]): void => {
    for (const record of part) records.push(record);
  };
  try {
    await readParts(log, {}, take);
    return { records, damage: undefined, unfinishedBytes: 0 };
  } catch (error) {
    if (!(error instanceof LogError) || error.code !== "LogCorrupt" || error.seq === undefined) throw error;
    const last = Math.max(error.seq - 1, 0);
    await readParts(log, { afterSeq: records.length, upTo: last }, take);
    return { records: records.slice(0, last), damage: error, unfinishedBytes: 0 };
  }
}

/** Verifies the records after `start` up to `seq`, without keeping them. Resolves with the last of them. */
export async function checkInTurns(log: Readable, start: ChainHead, seq: number): Promise<ChainHead> {
  let last = start;
  await readParts(log, { afterSeq: start.seq, upTo: seq }, (part) => {
    checkedChain(last, part.slice(0, 1));
    last = part.at(-1) ?? last;
  });
  if (last.seq < seq) throw logCorrupt(last.seq + 1);
  return { seq: last.seq, digest: last.digest };
}
