import { idForm } from "./options.ts";
import type { ChainHead } from "@moora/event-log";
import { TerminalError } from "@restatedev/restate-sdk";
import type { RecordsQuery, SessionDeadline, SnapshotPart } from "./session-messages.ts";

/*
 * What callers of the handlers that read, and timers, pass. Each of these rejects what is not of its form: Restate would run the
 * handler again forever.
 */

/** The head that a caller of `view` has; undefined without one. */
export function checkedAfter(query: unknown): ChainHead | undefined {
  if (query === undefined || query === null) return undefined;
  const { after } = fieldsOf(query);
  return after === undefined || after === null ? undefined : checkedHead(after);
}

/** A head that a caller has. */
export function checkedHead(after: unknown): ChainHead {
  const { seq, digest } = fieldsOf(after);
  if (isCount(seq) && typeof digest === "string") return { seq, digest };
  return refused("after must have seq, an integer from 0, and digest, a string.");
}

/** Which records a caller of `records` asks for. */
export function checkedRecordsQuery(query: unknown): RecordsQuery {
  const { after, limit } = fieldsOf(query);
  if (isCount(after) && isCount(limit)) return { after, limit };
  return refused("after and limit must be integers from 0.");
}

/** Which part of a snapshot a caller of `part` asks for. */
export function checkedPart(query: unknown): SnapshotPart {
  const { at, index } = fieldsOf(query);
  if (isCount(at) && isCount(index)) return { at, index };
  return refused("at and index must be integers from 0.");
}

/** What a timer passes to `expire`. */
export function checkedDeadline(deadline: unknown): SessionDeadline {
  const { key, due, header } = fieldsOf(deadline);
  if (typeof key !== "string" || typeof due !== "number")
    return refused("key must be a string, and due a number.");
  return typeof header === "string" ? { key, due, header } : { key, due };
}

/** The fields of a value of a caller; none of one that is not an object. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/** Rejects a call, which Restate then does not repeat. */
export function refused(message: string): never {
  throw new TerminalError(message, { errorCode: 400 });
}

/** Rejects the key of an object that is not the id of a session: `restateSession` could not read it. */
export function checkId(key: string): void {
  if (!idForm.fits(key)) refused(`The id of a session must be ${idForm.expectation}.`);
}
