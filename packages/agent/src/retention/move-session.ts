import type { Clock } from "@moora/agent-core-effects";
import { LogError, type EventLog, type Lease, type LogRecord, type SessionLog } from "@moora/event-log";
import { readInTurns } from "@moora/event-log/store";
import { checkIsId, checkIsLog } from "../check-arguments.ts";
import { checkLogOptions, type OptionForms } from "../check-options.ts";
import { systemClock } from "../clock.ts";
import {
  closedBy,
  closesOriginal,
  closingClaim,
  completeClaim,
  isOfCompleteCopy,
  newCopyHolder,
  originalHolder,
  replacingClaim,
} from "../durable/closed-copy.ts";
import { closedError } from "../durable/closed-session.ts";
import { engineOf } from "../durable/lease-holder.ts";
import { isOfInterruptedWrite, isOfWrite, removeInterruptedWrite } from "../durable/unfinished-write.ts";
import { unlessRemoved } from "../durable/unless-removed.ts";
import { copyBlobs } from "../time-travel/copy-blobs.ts";
import { batchesOf } from "../time-travel/write-session.ts";
import {
  calledError,
  checkIsOther,
  existsError,
  heldError,
  incompleteError,
  noRecordsError,
  noRemoveAtError,
  replacedError,
  unknownError,
} from "./move-errors.ts";
import { isInForce } from "./running-sessions.ts";
import { callerIdOf, findFamily, type ListedSession } from "./session-family.ts";

/** The options of `moveSession`. */
export interface MoveOptions {
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /**
   * Whether to move a session that a move to another log has closed, whose copy is lost. If that log comes back, remove the copy there:
   * it is closed, and a repetition of that move would open it. Default: false.
   */
  readonly isCopyLost?: boolean;
}

const forms: OptionForms<MoveOptions> = { clock: "clock", isCopyLost: "boolean" };

/**
 * Moves a session to another log, with the sessions of its sub-agents: to an archive, and back from it. The records are copied
 * unchanged, with the bytes of their files if both logs have a store for them; then the sessions are removed from the first log, at the
 * records that were copied. A copy is closed from its creation, and a session of the first log from the first copied record on: what is
 * closed rejects with `MoveUnfinished` when it is opened, also after an interruption, until the move is repeated with the same logs and
 * id. A sub-agent without records is only removed. Returns the ids of the moved sessions. Changes neither log when it rejects with
 * `SessionUnknown`, with `SessionBusy` if a process runs one of them, with `MoveUnfinished` for a session that another move has closed,
 * with `LogExists` if the other log has a session of the same id, with `LogCorrupt` for a damaged one, and with `InvalidOption` for a
 * session without records, for that of a sub-agent whose caller is in the same log, for a log whose sessions have no `removeAt`, and if
 * both logs are the same.
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
  const { clock = systemClock, isCopyLost = false } = options;
  checkLogOptions("moveSession", options, forms);
  try {
    return await new Move({ from, to, clock, isCopyLost }).move(id);
  } catch (error) {
    const isMoved =
      error instanceof LogError && error.code === "LogRemoved" && (await from.open(id)) === undefined;
    throw isMoved ? unknownError(id) : error;
  }
}

interface Logs {
  readonly from: EventLog;
  readonly to: EventLog;
  readonly clock: Clock;
  readonly isCopyLost: boolean;
}

/** A session that is moved. */
interface Member {
  readonly id: string;
  /** Undefined if it has left the first log. */
  readonly source: SessionLog | undefined;
  /** Its closed copy; undefined before it is created. */
  readonly copy: Copy | undefined;
}

interface Copy {
  readonly session: SessionLog;
  /** The holder that closes it. */
  readonly holder: string;
}

/** A session with its copy. */
interface Pair {
  readonly source: SessionLog;
  readonly copy: Copy;
}

class Move {
  readonly #from: EventLog;
  readonly #to: EventLog;
  readonly #clock: Clock;
  readonly #isCopyLost: boolean;

  constructor({ from, to, clock, isCopyLost }: Logs) {
    this.#from = from;
    this.#to = to;
    this.#clock = clock;
    this.#isCopyLost = isCopyLost;
  }

  async move(id: string): Promise<readonly string[]> {
    const members: Member[] = [];
    for (const listed of await this.#familyOf(id)) members.push(await this.#checked(listed));
    // Callers are first: one that can be opened finds its sub-agents.
    const pairs: Pair[] = [];
    for (const { source, copy } of members.toReversed()) {
      if (source !== undefined && (await source.head()) > 0)
        pairs.push({ source, copy: copy ?? (await this.#createCopy(source)) });
    }
    await this.#copyAll(pairs);
    for (const { source, copy } of pairs) await this.#complete(source, copy);
    for (const pair of pairs) await this.#remove(pair);
    for (const { source } of members) {
      if (source !== undefined && (await unlessRemoved(async () => await source.head(), 1)) === 0)
        await this.#from.remove(source.id);
    }
    const moved = members.flatMap(({ id: member, source, copy }) => {
      const found = source === undefined ? copy : pairs.find((pair) => pair.source === source)?.copy;
      return found === undefined ? [] : [{ id: member, copy: found }];
    });
    for (const { copy } of moved) await copy.session.release(copy.holder);
    return moved.map(({ id: member }) => member);
  }

  /** The sessions to move, each after those that it calls: those of the first log, or those that an interrupted move has copied. */
  async #familyOf(id: string): Promise<readonly ListedSession[]> {
    const family = await findFamily(this.#from, id);
    if (family === undefined) {
      const copies = await findFamily(this.#to, id);
      const lease = copies && (await leaseOf(await this.#to.open(id)));
      if (copies === undefined || closedBy(lease) === undefined) throw unknownError(id);
      return copies.members;
    }
    if (family.session.head === 0) {
      const session = await this.#from.open(id);
      const lease = await leaseOf(session);
      if (lease !== undefined && closedBy(lease) !== undefined) throw closedError(id, lease);
      // After the lease was read: a copy that was opened meanwhile has records.
      const head = session && (await unlessRemoved(async () => await session.head(), undefined));
      if (head !== 0) return await this.#familyOf(id);
      throw noRecordsError(id);
    }
    const callerId = await callerIdOf(this.#from, family.session);
    if (callerId !== undefined) throw calledError(id, callerId);
    return family.members;
  }

  /** A session that may be moved. Changes nothing. */
  async #checked({ id, header }: ListedSession): Promise<Member> {
    const source = await this.#from.open(id);
    const lease = await leaseOf(source);
    // After the lease was read: a copy that is open has no original any more.
    const target = await this.#to.open(id);
    const closing = await leaseOf(target);
    if (source === undefined || source.header !== header) {
      if (closing === undefined || isOfCompleteCopy(closing, this.#clock.now()))
        return { id, source: undefined, copy: copyOf(target, closing) };
      throw isOfWrite(closing) || closesOriginal(closing.owner)
        ? closedError(id, closing)
        : incompleteError(id);
    }
    if (source.removeAt === undefined) throw noRemoveAtError(this.#from);
    const copy = copyOf(target, closing);
    await this.#checkSource(source, lease, copy);
    const records = await readInTurns(source);
    if (target === undefined || (closing !== undefined && isOfInterruptedWrite(closing)))
      return { id, source, copy: undefined };
    if (closing !== undefined && (isOfWrite(closing) || closesOriginal(closing.owner)))
      throw closedError(id, closing);
    if (copy === undefined) throw existsError(id);
    if (target.header !== header) throw replacedError(id);
    checkIsSame(id, records, await readInTurns(target));
    return { id, source, copy };
  }

  /** Throws for a session that a process runs, and for one that another move has closed. */
  async #checkSource(source: SessionLog, lease: Lease | undefined, copy: Copy | undefined): Promise<void> {
    if (lease === undefined) return;
    const closer = closedBy(lease);
    if (closer === undefined) {
      if (engineOf(lease.owner) === undefined && (await isInForce(lease, this.#clock)))
        throw heldError(source.id, lease);
    } else {
      const isMine = copy !== undefined && closer === originalHolder(copy.holder);
      if (!isMine && !(this.#isCopyLost && closesOriginal(closer))) throw closedError(source.id, lease);
    }
  }

  /** A new copy, which no process can open. */
  async #createCopy({ id, header }: SessionLog): Promise<Copy> {
    await removeInterruptedWrite(this.#to, id);
    const holder = newCopyHolder();
    const claim = closingClaim(holder, this.#clock.now());
    const session = await this.#to.create(id, header, claim);
    // A log of your own may ignore the claim of a creation.
    if ((await session.currentLease()) === undefined && (await session.head()) === 0)
      await session.lease(claim);
    return { session, holder };
  }

  /** Closes the sessions and copies them. Opens them again if that fails: their copies stay closed. */
  async #copyAll(pairs: readonly Pair[]): Promise<void> {
    const undo: (() => Promise<void>)[] = [];
    try {
      for (const pair of pairs) undo.push(await this.#close(pair));
      for (const pair of pairs.toReversed()) await this.#copy(pair);
    } catch (error) {
      // What cannot be opened again stays closed until the move is repeated.
      for (const open of undo) await open().catch(() => undefined);
      throw error;
    }
  }

  /** Closes a session that no process runs. Returns a function that undoes that. */
  async #close({ source, copy }: Pair): Promise<() => Promise<void>> {
    const owner = originalHolder(copy.holder);
    const now = this.#clock.now();
    const present = await source.currentLease();
    if (present?.owner === owner) return async () => undefined;
    await this.#checkSource(source, present, copy);
    const claim = present === undefined ? closingClaim(owner, now) : replacingClaim(present, owner, now);
    const lease = await source.lease(claim);
    if (lease.owner !== owner) throw heldError(source.id, lease);
    return async () => {
      const isKept =
        present !== undefined && (closedBy(present) !== undefined || engineOf(present.owner) !== undefined);
      if (!isKept) return await source.release(owner);
      await source.lease(replacingClaim(lease, present.owner, now, present.until - now));
    };
  }

  /** Copies the records that the other log does not have, and before them their files. Returns the last sequence number. */
  async #copy({ source, copy }: Pair): Promise<number> {
    for (;;) {
      const records = await readInTurns(source);
      const present = await readInTurns(copy.session);
      checkIsSame(source.id, records, present);
      let copied = present.length;
      try {
        for (const batch of batchesOf(records.slice(copied))) {
          await copyBlobs(this.#from, this.#to, batch);
          await copy.session.append(copied, batch);
          copied += batch.length;
        }
        return records.length;
      } catch (error) {
        // Another move of the session copies it as well.
        if (!(error instanceof LogError) || error.code !== "Conflict") throw error;
      }
    }
  }

  /** Marks a copy as one that may be opened when its original is gone. */
  async #complete(source: SessionLog, { session, holder }: Copy): Promise<void> {
    if (await isGone(source)) return;
    const lease = await session.lease(completeClaim(holder, this.#clock.now()));
    if (lease.owner !== holder) throw heldError(session.id, lease);
  }

  /** Removes a session at its last record, which is copied before if a process has posted it meanwhile. */
  async #remove(pair: Pair): Promise<void> {
    const { source } = pair;
    for (let seq = await pair.copy.session.head(); ; seq = await this.#copy(pair))
      if (await unlessRemoved(async () => await source.removeAt?.(seq), true)) return;
  }
}

const leaseOf = async (session: SessionLog | undefined): Promise<Lease | undefined> =>
  session && (await unlessRemoved(async () => await session.currentLease(), undefined));

/** A session that a move has closed; undefined for any other one. */
const copyOf = (session: SessionLog | undefined, lease: Lease | undefined): Copy | undefined => {
  const holder = closedBy(lease);
  return session === undefined || holder === undefined ? undefined : { session, holder };
};

const isGone = async (source: SessionLog): Promise<boolean> =>
  (await unlessRemoved(async () => await source.head(), undefined)) === undefined;

/** Throws `LogExists` unless the records of the copy are the first ones of the session. */
function checkIsSame(id: string, records: readonly LogRecord[], present: readonly LogRecord[]): void {
  if (present.length > records.length || records[present.length - 1]?.digest !== present.at(-1)?.digest)
    throw existsError(id);
}
