import type { Clock } from "@moora/agent-core-effects";
import { LogError, type EventLog, type LogRecord, type SessionLog } from "@moora/event-log";
import { checkIsId, checkIsLog } from "../check-arguments.ts";
import { checkLogOptions, type OptionForms } from "../check-options.ts";
import { systemClock } from "../clock.ts";
import { SessionError } from "../durable/session-error.ts";
import { copyBlobs } from "../time-travel/copy-blobs.ts";
import { batchesOf } from "../time-travel/write-session.ts";
import { isBusy, renewalOf, withHeld, type HeldSession } from "./hold-sessions.ts";
import { callerIdOf, findFamily, type ListedSession } from "./session-family.ts";

/** The options of `moveSession`. */
export interface MoveOptions {
  /** Default: `systemClock`. */
  readonly clock?: Clock;
}

const forms: OptionForms<MoveOptions> = { clock: "clock" };

/**
 * Moves a session to another log, with the sessions of its sub-agents: to an archive, and back from it. The records are copied
 * unchanged, with the bytes of their files if both logs have a store for them. The sessions are removed from the first log when
 * the other one has the last records of all of them; bytes stay, and so does a sub-agent without records. A move that is refused
 * changes neither log, and one that was interrupted is completed by the next one. Returns the ids of the moved sessions. Rejects with
 * `SessionUnknown`, with `SessionBusy` if a process runs one of them, with `LogExists` if the other log has a different session of
 * the same id, with `LogCorrupt` for a damaged one, and with `InvalidOption` for a session without records, for that of a sub-agent
 * whose caller is in the same log, for a log whose sessions have no `removeAt`, and if both logs are the same.
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
  const callerId = await callerIdOf(from, family.session);
  if (callerId !== undefined) throw isCalled(id, callerId);
  const ids = idsToMove(family.members);
  await withHeld(from, { ids, clock }, async (sources) => {
    for (const source of sources) await checkTarget(source, to, clock);
    // The caller is first: if another process has created its session meanwhile, the log gets none of the family.
    for (const source of sources.toReversed()) await createSession(source.session, to);
    await withHeld(to, { ids, clock }, async (targets) => {
      await moveHeld({ sources, targets, clock, copyFiles: (records) => copyBlobs(from, to, records) });
    });
  });
  return ids;
}

/** The ids of the sessions of a family that a move moves: those with records. */
export const idsToMove = (family: readonly ListedSession[]): readonly string[] =>
  family.flatMap(({ id, head }) => (head === 0 ? [] : [id]));

/** The sessions of a move, in both logs, whose leases are held. */
interface Move {
  readonly sources: readonly HeldSession[];
  /** In the order of `sources`. */
  readonly targets: readonly HeldSession[];
  readonly clock: Clock;
  readonly copyFiles: (records: readonly LogRecord[]) => Promise<void>;
}

/** Copies all sessions, and then removes each: a failed copy leaves the first log as it was. */
async function moveHeld({ sources, targets, clock, copyFiles }: Move): Promise<void> {
  const renew = renewalOf([...sources, ...targets], clock);
  const copies: { readonly copy: () => Promise<number>; readonly source: HeldSession; seq: number }[] = [];
  for (const [index, source] of sources.entries()) {
    const target = targets[index];
    if (target === undefined) continue;
    const copy = async (): Promise<number> => {
      await renew();
      return await copyRecords(source.session, target.session, async (records) => {
        await copyFiles(records);
        await renew();
      });
    };
    copies.push({ copy, source, seq: await copy() });
  }
  for (const { copy, source, seq } of copies) {
    await source.renew();
    // Another process may have posted to the session meanwhile.
    for (let last = seq; !(await source.removeAt(last)); last = await copy());
  }
}

/** Checks that the other log can take a session, and changes nothing. */
async function checkTarget(
  { session: source, owner }: HeldSession,
  to: EventLog,
  clock: Clock,
): Promise<void> {
  const { id, header } = source;
  const target = await to.open(id);
  const lease = await target?.currentLease();
  if (lease?.owner === owner) throw sameLog();
  const { records, damage } = await source.inspect();
  if (damage !== undefined) throw damage;
  if (target === undefined) return;
  if (target.header !== header) throw exists(id);
  checkIsBeginning(id, records, (await target.read()).at(-1));
  if (lease !== undefined && lease.until > clock.now()) throw isBusy(id, lease);
}

/** Creates the session in the other log, unless an interrupted move has done that. */
async function createSession({ id, header }: SessionLog, to: EventLog): Promise<void> {
  const target = await to.open(id);
  if (target === undefined) await to.create(id, header);
  else if (target.header !== header) throw exists(id);
}

/** Copies the records that the other log does not have, and before them their files. Returns the last sequence number. */
async function copyRecords(
  source: SessionLog,
  target: SessionLog,
  beforeBatch: (records: readonly LogRecord[]) => Promise<void>,
): Promise<number> {
  const { records, damage } = await source.inspect();
  if (damage !== undefined) throw damage;
  const last = (await target.read()).at(-1);
  checkIsBeginning(source.id, records, last);
  let copied = last?.seq ?? 0;
  for (const batch of batchesOf(records.slice(copied))) {
    await beforeBatch(batch);
    await target.append(copied, batch);
    copied += batch.length;
  }
  return copied;
}

/** Throws `LogExists` unless the records begin with those of the other log, of which the last one is given. */
function checkIsBeginning(id: string, records: readonly LogRecord[], last: LogRecord | undefined): void {
  if (last !== undefined && records[last.seq - 1]?.digest !== last.digest) throw exists(id);
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

const isCalled = (id: string, callerId: string): SessionError =>
  new SessionError(
    "InvalidOption",
    `Session "${id}" is that of a sub-agent of "${callerId}". Move "${callerId}": its sub-agents go with it.`,
  );
