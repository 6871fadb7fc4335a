import type { EventLog } from "@moora/event-log";
import { HttpProblem, unavailable } from "../problem.ts";
import { digestAt, incarnationOf } from "./history-position.ts";
import type { LiveSession } from "./live-session.ts";

/** A record that a client has. */
export interface Cursor {
  readonly after: number;
  /** The incarnation of the session that the client knows; null if it does not say. */
  readonly incarnation: string | null;
  /** The digest of the record that the client has; null if it does not say. */
  readonly digest: string | null;
}

/**
 * Throws unless a session has the record of a client: `cursor-beyond-end`, `history-changed`, and `unavailable` for one that cannot
 * be read now.
 */
export async function checkHistory(log: EventLog, live: LiveSession, cursor: Cursor): Promise<void> {
  await checkIncarnation(live, cursor);
  if (cursor.after > live.session.seq()) await checkCursor(log, live, cursor);
  await checkRecord(live, cursor);
}

/** Throws `cursor-beyond-end` for a record that the log does not have, and `unavailable` for one that cannot be read now. */
async function checkCursor(log: EventLog, live: LiveSession, { after }: Cursor): Promise<void> {
  await live.refresh();
  if (after <= live.session.seq()) return;
  const seq = (await (await log.open(live.ref.id))?.head()) ?? 0;
  if (after <= seq) throw unavailable("The session has not read its newest records yet. Retry.");
  const detail = `The session has no record ${after}; the last one is ${seq}.`;
  throw new HttpProblem("cursor-beyond-end", detail, { seq });
}

/** Throws `history-changed` for a client of an earlier session with the same id. */
export async function checkIncarnation(
  live: LiveSession,
  { incarnation }: Pick<Cursor, "incarnation">,
): Promise<void> {
  if (isSameIncarnation(incarnationOf(live.session), incarnation)) return;
  // Another server may have created the session again: the client is of that one then.
  await live.refresh();
  requireIncarnation(incarnationOf(live.session), incarnation);
}

/** Throws `history-changed` for another incarnation than that of a session. Null: the client does not say which it knows. */
export function requireIncarnation(incarnation: string, known: string | null): void {
  if (isSameIncarnation(incarnation, known)) return;
  throw new HttpProblem("history-changed", "The session was removed, and created again with the same id.");
}

const isSameIncarnation = (incarnation: string, known: string | null): boolean =>
  known === null || known === incarnation;

/** Throws `history-changed` for a reader whose last record is not the one of the log. */
async function checkRecord(live: LiveSession, { after, digest }: Cursor): Promise<void> {
  if (digest === null || digest === (await digestAt(live.session, after))) return;
  throw new HttpProblem(
    "history-changed",
    `Record ${after} of the session is not the one that was sent before.`,
  );
}
