import { type ChainHead, follows } from "./chain.ts";
import { LogError } from "./log-error.ts";
import type { LogRecord } from "./port.ts";

/** The maximum length of a session id, in UTF-16 code units. */
export const maxIdLength = 200;
/**
 * The maximum length of a record's body, in UTF-16 code units, in every store. It is also the limit for a header, and for the
 * bodies of one append together.
 */
export const maxRecordLength: number = 64 * 1024 * 1024;
/** The maximum length of a record's `changesDigest`, in UTF-16 code units. */
export const maxChangesDigestLength = 200;

/** Returns the id if it is valid. Throws `InvalidId` otherwise. */
export function validId(id: string): string {
  if (typeof id === "string" && id.length > 0 && id.length <= maxIdLength && id.isWellFormed()) return id;
  throw new LogError(
    "InvalidId",
    `A session id must be a well-formed string of 1 to ${maxIdLength} characters, got ${valueToText(id)}.`,
  );
}

/** Throws `InvalidOption` if `location` is not a path. */
export function validateLocation(caller: string, what: string, location: unknown): void {
  if (typeof location !== "string" || location === "")
    throw new LogError("InvalidOption", `${caller} needs ${what}, got ${valueToText(location)}.`);
}

/** Returns the header if every store can store it unchanged. Throws `InvalidRecord` otherwise. */
export function validHeader(header: string): string {
  const problem = textProblem("The header", header, maxRecordLength);
  if (problem === undefined) return header;
  throw new LogError("InvalidRecord", problem, { seq: 0 });
}

/**
 * The checks of every `append`: the head is where the writer expects it (else `Conflict`), and the records are valid and
 * continue the chain (else `InvalidRecord`). Returns the head after the records. `longest` is the limit of a body, and of all of them.
 */
export function validateAppend(
  head: ChainHead,
  expectedSeq: number,
  records: readonly LogRecord[],
  longest: number = maxRecordLength,
): ChainHead {
  if (expectedSeq !== head.seq) throw conflict(expectedSeq, head.seq);
  let last = head;
  let length = 0;
  for (const record of records) {
    const problem = recordProblem(last, record, { lengthBefore: length, longest });
    if (problem !== undefined) throw new LogError("InvalidRecord", problem, { seq: last.seq + 1 });
    last = record;
    length += record.body.length;
  }
  return last;
}

/** Why a record cannot be appended after `last`, in an append whose earlier bodies have `lengthBefore` characters in total. */
function recordProblem(
  last: ChainHead,
  record: LogRecord,
  { lengthBefore, longest }: { readonly lengthBefore: number; readonly longest: number },
): string | undefined {
  const name = `Record ${last.seq + 1}`;
  const problem =
    textProblem(`The body of record ${last.seq + 1}`, record.body, longest) ??
    textProblem(
      `The \`changesDigest\` of record ${last.seq + 1}`,
      record.changesDigest,
      maxChangesDigestLength,
    );
  if (problem !== undefined) return problem;
  const total = lengthBefore + record.body.length;
  if (total > longest) {
    return (
      `${name} brings the bodies of this append to ${total} characters; the limit is ${longest}. ` +
      "Append fewer records at once."
    );
  }
  if (follows(last, record)) return undefined;
  return `${name} does not continue the log. Its digest must be recordDigest(previous digest, body).`;
}

/** Why a text cannot be stored unchanged; undefined if it can. */
function textProblem(name: string, text: string, limit: number): string | undefined {
  if (typeof text !== "string") return `${name} must be a string, got ${typeof text}.`;
  if (text.length > limit) return `${name} is ${text.length} characters long; the limit is ${limit}.`;
  return text.isWellFormed() ? undefined : `${name} has a lone surrogate: it must be well-formed text.`;
}

/** The start of a `read`: `afterSeq` rounded down, and 0 for undefined, NaN and negative numbers. */
export const readStart = (afterSeq: number | undefined): number =>
  Math.max(0, Math.trunc(afterSeq ?? 0) || 0);

/** Creates the error of an append whose expected sequence number is not the head. */
export const conflict = (expectedSeq: number, seq: number): LogError =>
  new LogError(
    "Conflict",
    `The log ends at record ${seq}, not at ${expectedSeq}. Read the new records and retry.`,
    { seq },
  );

/** Creates the error of a handle whose session was removed, even when its id was created again. */
export const logRemoved = (id: string): LogError =>
  new LogError("LogRemoved", `The session ${JSON.stringify(id)} was removed.`);

/** Creates the error of `create` for an id that is in use. */
export const logExists = (id: string): LogError =>
  new LogError("LogExists", `The session ${JSON.stringify(id)} exists already. Open it, or use another id.`);

/**
 * Creates the error of every call to a log after its `close`, the same for each: a session that is closed after its log makes
 * several calls.
 */
export const logClosed = (): LogError =>
  new LogError("LogWrite", "The log is closed. Close the sessions of a log before the log.");

/** The value of an argument, for an error message. */
export function valueToText(value: unknown): string {
  if (typeof value === "string")
    return value.length > maxIdLength ? `${value.length} characters` : JSON.stringify(value);

  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : String(value);
}
