import { type ChainHead, follows } from "./chain.ts";
import { LogError } from "./log-error.ts";
import type { LogRecord } from "./port.ts";

/** The longest id of a session, in UTF-16 code units. */
export const maxIdLength = 200;
/**
 * The longest body of a record, in UTF-16 code units: every store takes this much, and none takes more. It is also the
 * limit for a header, and for the bodies of one append together.
 */
export const maxRecordLength: number = 64 * 1024 * 1024;
/** The longest `changed` of a record, in UTF-16 code units. */
export const maxChangesDigestLength = 200;

/** Gives back an id that may name a session. Throws `InvalidId`. */
export function validId(id: string): string {
  if (typeof id === "string" && id.length > 0 && id.length <= maxIdLength && id.isWellFormed()) return id;
  throw new LogError("InvalidId", `a session id is a well-formed string of 1 to ${maxIdLength} characters`);
}

/** Throws `InvalidOption` for what names no file or directory, and for options that are no object. */
export function checkPlace(caller: string, what: string, place: unknown, options: unknown): void {
  if (typeof place !== "string" || place === "")
    throw new LogError("InvalidOption", `${caller} needs ${what}, got ${shown(place)}.`);
  if (typeof options !== "object" || options === null)
    throw new LogError("InvalidOption", `${caller} needs an object of options, got ${shown(options)}.`);
}

const shown = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "object" && value !== null
    ? "an object"
    : typeof value === "function"
      ? "a function"
      : String(value);
};

/** Gives back a header that every store keeps as it is. Throws `InvalidRecord`. */
export function validHeader(header: string): string {
  const problem = textProblem("The header", header, maxRecordLength);
  if (problem === undefined) return header;
  throw new LogError("InvalidRecord", problem, { seq: 0 });
}

/**
 * What every `append` checks before it writes: the head is where the writer thinks it is (`Conflict`), and the records
 * are sound and continue the chain (`InvalidRecord`: a fault of the caller). Answers the head after them.
 */
export function validateAppend(
  head: ChainHead,
  expectedSeq: number,
  records: readonly LogRecord[],
): ChainHead {
  if (expectedSeq !== head.seq) throw conflict(expectedSeq, head.seq);
  let last = head;
  let length = 0;
  for (const record of records) {
    const problem = recordProblem(last, record, length);
    if (problem !== undefined) throw new LogError("InvalidRecord", problem, { seq: last.seq + 1 });
    last = record;
    length += record.body.length;
  }
  return last;
}

/** Why a record cannot be appended after `last`, in an append whose earlier bodies have `lengthBefore` characters. */
function recordProblem(last: ChainHead, record: LogRecord, lengthBefore: number): string | undefined {
  const name = `Record ${last.seq + 1}`;
  const problem =
    textProblem(`The body of record ${last.seq + 1}`, record.body, maxRecordLength) ??
    textProblem(`The \`changed\` of record ${last.seq + 1}`, record.changed, maxChangesDigestLength);
  if (problem !== undefined) return problem;
  const total = lengthBefore + record.body.length;
  if (total > maxRecordLength) {
    return (
      `${name} takes the bodies of this append to ${total} characters; the limit is ${maxRecordLength}. ` +
      "Append fewer records at once."
    );
  }
  if (follows(last, record)) return undefined;
  return `${name} does not continue the log. Its digest must be chained(previous digest, body, changed).`;
}

/** Why a text cannot be stored as it is. */
function textProblem(name: string, text: string, limit: number): string | undefined {
  if (typeof text !== "string") return `${name} must be a string, got ${typeof text}.`;
  if (text.length > limit) return `${name} is ${text.length} characters long; the limit is ${limit}.`;
  return text.isWellFormed() ? undefined : `${name} has a lone surrogate: it must be well-formed text.`;
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
