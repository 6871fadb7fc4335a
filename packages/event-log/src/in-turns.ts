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
 * Reads the records after a sequence number as `SessionLog.read` does, part by part where the log can read parts. The event loop has a
 * turn, for timers, I/O and the work of others, between two of them.
 */
export async function* partsOf(
  log: Readable,
  afterSeq: number = 0,
  upTo: number = Infinity,
): AsyncGenerator<readonly LogRecord[]> {
  for (let seq = afterSeq; seq < upTo; seq += recordsPerRead) {
    const limit = Math.min(recordsPerRead, upTo - seq);
    const part = await log.read(seq, limit);
    yield part;
    if (part.length !== limit) return;
    await new Promise<void>(nextTurn);
  }
}

/** All records of `partsOf`. */
export const readInTurns = async (log: Readable, afterSeq?: number): Promise<readonly LogRecord[]> =>
  (await Array.fromAsync(partsOf(log, afterSeq))).flat();

/** What `SessionLog.inspect` returns, for a store whose `read` returns no more than `limit` records. */
export async function inspectInTurns(log: Readable): Promise<LogInspection> {
  const records: LogRecord[] = [];
  const add = async (upTo?: number): Promise<void> => {
    for await (const part of partsOf(log, records.length, upTo))
      for (const record of part) records.push(record);
  };
  try {
    await add();
    return { records, damage: undefined, unfinishedBytes: 0 };
  } catch (error) {
    if (!(error instanceof LogError) || error.code !== "LogCorrupt" || error.seq === undefined) throw error;
    const last = Math.max(error.seq - 1, 0);
    await add(last);
    return { records: records.slice(0, last), damage: error, unfinishedBytes: 0 };
  }
}

/** Verifies the records after `start` up to `seq`, without keeping them. Resolves with the last of them. */
export async function checkInTurns(log: Readable, start: ChainHead, seq: number): Promise<ChainHead> {
  let { seq: last, digest } = start;
  for await (const part of partsOf(log, last, seq)) {
    checkedChain({ seq: last, digest }, part.slice(0, 1));
    ({ seq: last, digest } = part.at(-1) ?? { seq: last, digest });
  }
  if (last < seq) throw logCorrupt(last + 1);
  return { seq: last, digest };
}
