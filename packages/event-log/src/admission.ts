import { type ChainHead, follows } from "./chain.ts";
import { LogError } from "./log-error.ts";
import type { LogRecord } from "./port.ts";

/** The longest id of a session, in UTF-16 code units. */
export const maxIdLength = 200;
/** The longest header, and the longest bodies of one append together, in UTF-16 code units: what every store can take. */
export const maxTextLength: number = 64 * 1024 * 1024;
/** The longest `changed` of a record, in UTF-16 code units. */
export const maxChangedLength = 200;

/** Gives back an id that may name a session. Throws `InvalidId`. */
export function checkedId(id: string): string {
  if (typeof id === "string" && id.length > 0 && id.length <= maxIdLength && id.isWellFormed()) return id;
  throw new LogError("InvalidId", `a session id is a well-formed string of 1 to ${maxIdLength} characters`);
}

/** Gives back a header that every store keeps as it is. Throws `InvalidRecord`. */
export function checkedHeader(header: string): string {
  if (isKept(header, maxTextLength)) return header;
  throw new LogError("InvalidRecord", `a header is well-formed text of at most ${maxTextLength} characters`);
}

/**
 * What every `append` checks before it writes: the head is where the writer thinks it is (`Conflict`), and the records
 * are sound and continue the chain (`InvalidRecord`: a fault of the caller). Answers the head after them.
 */
export function checkedAppend(
  head: ChainHead,
  expectedSeq: number,
  records: readonly LogRecord[],
): ChainHead {
  if (expectedSeq !== head.seq) throw conflict(expectedSeq, head.seq);
  let last = head;
  let room = maxTextLength;
  for (const record of records) {
    if (!isKept(record.body, room) || !isKept(record.changed, maxChangedLength)) {
      throw new LogError(
        "InvalidRecord",
        `record ${last.seq + 1} must be well-formed text: bodies of at most ${maxTextLength} characters in one ` +
          `append, and at most ${maxChangedLength} for what it changed`,
        { seq: last.seq + 1 },
      );
    }
    if (!follows(last, record)) {
      throw new LogError(
        "InvalidRecord",
        `record ${last.seq + 1} does not continue the log: number it so and give it chained(previous digest, body, changed)`,
        { seq: last.seq + 1 },
      );
    }
    last = record;
    room -= record.body.length;
  }
  return last;
}

/** Where a `read` starts: the whole number in `afterSeq`, and 0 for what is none. */
export const readStart = (afterSeq: number | undefined): number =>
  Math.max(0, Math.trunc(afterSeq ?? 0) || 0);

/** The error of a writer that is not at the head. */
export const conflict = (expectedSeq: number, seq: number): LogError =>
  new LogError("Conflict", `expected the log to end at ${expectedSeq}; it ends at ${seq}`, { seq });

/** The error of a handle whose session was removed, even when a new one bears its id. */
export const logRemoved = (id: string): LogError =>
  new LogError("LogRemoved", `the session ${JSON.stringify(id)} was removed`);

/** The error of `create` for an id that is taken. */
export const logExists = (id: string): LogError =>
  new LogError("LogExists", `there is a session ${JSON.stringify(id)} already`);

const isKept = (text: string, limit: number): boolean =>
  typeof text === "string" && text.length <= limit && text.isWellFormed();
