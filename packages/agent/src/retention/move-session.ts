import type { Clock } from "@moora/agent-core-effects";
import { LogError, type EventLog, type LogRecord, type SessionLog } from "@moora/event-log";
import { checkIsId, checkIsLog } from "../check-arguments.ts";
import { checkLogOptions, type OptionForms } from "../check-options.ts";
import { systemClock } from "../clock.ts";
import { SessionError } from "../durable/session-error.ts";
import { copyBlobs } from "../time-travel/copy-blobs.ts";
import { batchesOf } from "../time-travel/write-session.ts";
import { holdSession, withHeld, type HeldSession } from "./hold-sessions.ts";
import { findFamily, type ListedSession } from "./session-family.ts";

/** The options of `moveSession`. */
export interface MoveOptions {
  /** Default: `systemClock`. */
  readonly clock?: Clock;
}

const forms: OptionForms<MoveOptions> = { clock: "clock" };

/**
 * Moves a session to another log, with the sessions of its sub-agents: to an archive, and back from it. The records are copied
 * unchanged, with the bytes of their files if both logs have a store for them. Each session is removed from the first log when
 * the other one has its last record; bytes stay, and so does a sub-agent without records. A move that was interrupted is completed
 * by the next one. Returns the ids of the moved sessions. Rejects with `SessionUnknown`, with `SessionBusy` if a process runs one of
 * them, with `LogExists` if the other log has a different session of the same id, with `LogCorrupt` for a damaged one, and with
 * `InvalidOption` for a session without records, for a log whose sessions have no `removeAt`, and if both logs are the same.
 */
export async function moveSession(
  from: EventLog,
  id: string,
  to: EventLog,
  options: MoveOptions = {},
): Promise<readonly string[]> {
  checkIsLog(from);
  checkIsId(id);
  checkIsLog(to);
  checkIsOther(from, to);
  const { clock = systemClock } = options;
  checkLogOptions("moveSession", options, forms);
  const family = await findFamily(from, id);
  if (family === undefined) throw new SessionError("SessionUnknown", `Session "${id}" not found.`);
  if (family.session.head === 0)
    throw new SessionError("InvalidOption", `Session "${id}" has no records. Remove it instead.`);
  const ids = idsToMove(family.members);
  await withHeld(from, { ids, clock }, async (held) => {
    for (const index of held.keys()) await moveFirst(held.slice(index), { from, to, clock });
  });
  return ids;
}

/** The ids of the sessions of a family that a move moves: those with records. */
export const idsToMove = (family: readonly ListedSession[]): readonly string[] =>
  family.flatMap(({ id, head }) => (head === 0 ? [] : [id]));

interface Move {
  readonly from: EventLog;
  readonly to: EventLog;
  readonly clock: Clock;
}

/** Moves the first of the sessions whose leases are held. */
async function moveFirst(held: readonly HeldSession[], { from, to, clock }: Move): Promise<void> {
  const [source] = held;
  if (source === undefined) return;
  await createSession(source, to);
  const target = await holdSession(to, source.session.id, clock);
  try {
    for (;;) {
      for (const each of [...held, target]) await each.renew();
      const seq = await copyRecords(source.session, target, (records) => copyBlobs(from, to, records));
      // Another process may have posted to the session meanwhile.
      if (await source.removeAt(seq)) return;
    }
  } finally {
    await target.release();
  }
}

/** Creates the session in the other log, unless an interrupted move has done that. */
async function createSession({ session: { id, header }, owner }: HeldSession, to: EventLog): Promise<void> {
  const target = await to.open(id);
  if (target === undefined) await to.create(id, header);
  else if ((await target.currentLease())?.owner === owner) throw sameLog();
  else if (target.header !== header) throw exists(id);
}

/** Copies the records that the other log does not have, and before them their files. Returns the last sequence number. */
async function copyRecords(
  source: SessionLog,
  { session: target, renew }: HeldSession,
  copyFiles: (records: readonly LogRecord[]) => Promise<void>,
): Promise<number> {
  const { records, damage } = await source.inspect();
  if (damage !== undefined) throw damage;
  const last = (await target.read()).at(-1);
  const seq = last?.seq ?? 0;
  if (last !== undefined && records[seq - 1]?.digest !== last.digest) throw exists(source.id);
  let copied = seq;
  for (const batch of batchesOf(records.slice(seq))) {
    await copyFiles(batch);
    await renew();
    await target.append(copied, batch);
    copied += batch.length;
  }
  return copied;
}

/** Throws `InvalidOption` if the log to which sessions are moved is the one that has them. */
export function checkIsOther(from: EventLog, to: EventLog): void {
  if (from === to) throw sameLog();
}

const sameLog = (): SessionError =>
  new SessionError(
    "InvalidOption",
    "The log to which sessions are moved is the log that has them. Give another log.",
  );

const exists = (id: string): LogError =>
  new LogError("LogExists", `The other log has a different session "${id}".`);
