import type { Clock } from "@moora/agent-core-effects";
import type { EventLog, Lease, LeaseClaim, SessionLog } from "@moora/event-log";
import { busyError } from "../durable/busy-error.ts";
import { closesSession, closingClaim, replacingClaim } from "../durable/closed-copy.ts";
import { unfinishedMoveError } from "../durable/closed-session.ts";
import { engineClaim } from "../durable/engine-lease.ts";
import { leaseIn } from "../durable/lease-in.ts";
import { engineOf, holderOf, holderOfMove, isDead, isOfMove } from "../durable/lease-holder.ts";
import { localProcess } from "../durable/local-process.ts";
import { SessionError } from "../durable/session-error.ts";
import { unlessRemoved } from "../durable/unless-removed.ts";
import { randomId } from "../user-message.ts";

/** A session whose lease is held, so that no process runs it. */
export interface HeldSession {
  readonly session: SessionLog;
  /** The holder of the lease: no other one has this name. */
  readonly holder: string;
  /** Removes the session if its last record is `seq`. */
  removeAt(seq: number): Promise<boolean>;
  /** Renews the lease. Rejects with `SessionBusy` if it was lost. */
  renew(): Promise<void>;
  /**
   * Closes the session: no process opens it, also after the end of this one. Rejects with `SessionBusy` for one that another process
   * has taken meanwhile.
   */
  close(closer: string): Promise<void>;
  /** Keeps the lease after its release, without time left: it shows that the move of the session has not ended. */
  keepMark(): void;
  /** Releases the lease of a session that is not closed. */
  release(): Promise<void>;
}

/** How long a lease lasts that is not renewed: as long as that of a session by default. */
const leaseMs = 30_000;

/**
 * Whether a process runs the session, as far as is known, it is a closed copy, or a move of it has not ended. An engine does not hold
 * its sessions.
 */
export async function isLeased(log: EventLog, id: string, clock: Clock): Promise<boolean> {
  const lease = await leaseIn(log, id);
  if (lease === undefined || engineOf(lease.owner) !== undefined) return false;
  return isOfMove(lease.owner) || (await isInForce(lease, clock));
}

/** A claim to the lease of a session, for as long as a process holds one that it does not renew. */
export const newHoldingClaim = (now: number): LeaseClaim => ({
  owner: holderOf(ownerHere()),
  now,
  ttlMs: leaseMs,
});

const ownerHere = (): string => localProcess()?.name ?? randomId("retention");

/** Whether a lease has not ended, and neither has its owner as far as is known. */
export const isInForce = async (lease: Lease | undefined, clock: Clock): Promise<boolean> =>
  lease !== undefined && lease.until > clock.now() && !(await isDead(lease));

/** How sessions are held. */
interface Holding {
  readonly clock: Clock;
  /** Whether a closed session may be held by its closer. Default: none. */
  readonly mayContinue?: (id: string, closer: string) => boolean | Promise<boolean>;
  /** The id of the session that is moved, with those that it calls. Default: none. */
  readonly movedId?: string | undefined;
}

/**
 * Takes the lease of a session. Rejects with `SessionUnknown`, with `SessionBusy` if a process runs the session, with `MoveUnfinished`
 * or `SessionIncomplete` for a closed one, with `MoveUnfinished` for one of which a move has not ended unless it is moved, and with `InvalidOption` for a log whose sessions have no `removeAt`.
 */
export async function holdSession(
  log: EventLog,
  id: string,
  { clock, mayContinue = () => false, movedId }: Holding,
): Promise<HeldSession> {
  const session = await log.open(id);
  if (session === undefined) throw new SessionError("SessionUnknown", `Session "${id}" not found.`);
  if (session.removeAt === undefined) {
    throw new SessionError(
      "InvalidOption",
      `The log "${log.name}" cannot move or prune sessions: its sessions have no removeAt.`,
    );
  }
  const lease = new HeldLease(session, clock, id === movedId);
  await lease.take(mayContinue);
  return {
    session,
    holder: lease.holder,
    removeAt: async (seq) => (await session.removeAt?.(seq)) === true,
    renew: async () => await lease.renew(),
    close: async (closer) => await lease.close(closer),
    keepMark: () => lease.keepMark(),
    release: async () => await lease.release(),
  };
}

/**
 * The lease of a held session. That of an engine stays in force, so that no process runs the session meanwhile: a record that the
 * engine appends prevents `removeAt`.
 */
class HeldLease {
  readonly #session: SessionLog;
  readonly #clock: Clock;
  readonly #isMoved: boolean;
  /** An engine, this process, or what closes the session. */
  #holder: string;
  #isMarkKept = false;

  constructor(session: SessionLog, clock: Clock, isMoved: boolean) {
    this.#session = session;
    this.#clock = clock;
    this.#isMoved = isMoved;
    this.#holder = isMoved ? holderOfMove(ownerHere()) : holderOf(ownerHere());
  }

  get holder(): string {
    return this.#holder;
  }

  keepMark(): void {
    this.#isMarkKept = true;
  }

  async take(mayContinue: NonNullable<Holding["mayContinue"]>): Promise<void> {
    const session = this.#session;
    const present = await session.currentLease();
    const isMarked = present !== undefined && isOfMove(present.owner);
    if (isMarked && !this.#isMoved) throw unfinishedMoveError(session.id);
    // The move that has not ended may have copied the session: a refusal of this one does not change that.
    this.#isMarkKept = isMarked;
    const lease = await session.lease(this.#claim());
    if (lease.owner === this.#holder) return;
    if (engineOf(lease.owner) !== undefined) this.#holder = lease.owner;
    else if (closesSession(lease.owner) && (await mayContinue(session.id, lease.owner)))
      this.#holder = lease.owner;
    else if (await isDead(lease)) await this.#replace(lease, this.#holder);
    await this.renew();
  }

  async renew(): Promise<void> {
    const lease = await this.#session.lease(this.#claim());
    if (lease.owner !== this.#holder) throw heldError(this.#session.id, lease);
  }

  async close(closer: string): Promise<void> {
    // Records that another process adds in between are copied: the session is removed only at its last one.
    if (this.#holder !== closer) await this.#become(closer);
    await this.renew();
  }

  async release(): Promise<void> {
    const [session, holder] = [this.#session, this.#holder];
    if (closesSession(holder) || engineOf(holder) !== undefined) return;
    if (!this.#isMarkKept) return await session.release(holder);
    const mark = { owner: holder, now: this.#clock.now(), ttlMs: 0 };
    // What was removed needs no mark.
    await unlessRemoved(async () => await session.lease(mark), undefined);
  }

  /** Takes the lease from the holder so far, if that has it, for another one. */
  async #become(holder: string): Promise<void> {
    const lease = await this.#session.currentLease();
    if (lease?.owner === this.#holder) await this.#replace(lease, holder);
    this.#holder = holder;
  }

  /** In one step, so that the session is never without a lease. */
  async #replace(lease: Lease, holder: string): Promise<void> {
    const { owner, now, ttlMs } = this.#claim(holder);
    await this.#session.lease(replacingClaim(lease, owner, now, ttlMs));
  }

  #claim(owner = this.#holder): LeaseClaim {
    const now = this.#clock.now();
    const engine = engineOf(owner);
    if (engine !== undefined) return engineClaim(engine, now);
    return closesSession(owner) ? closingClaim(owner, now) : { owner, now, ttlMs: leaseMs };
  }
}

/** Removes a session without records, for which `removeAt` does not work. Returns false for one that has got a record meanwhile. */
export const removeEmpty = async (log: EventLog, session: SessionLog): Promise<boolean> =>
  (await session.head()) === 0 && (await log.remove(session.id));

/** The error for a session that cannot be held. */
export const heldError = (id: string, lease: Lease): SessionError =>
  busyError(id, lease, "Close it there, or wait for the end of its lease.");

/** Returns a function that renews the leases of a changing set of sessions when a third of their time has passed. */
export function renewalOf(held: ReadonlySet<HeldSession>, clock: Clock): () => Promise<void> {
  let renewedAt = clock.now();
  return async () => {
    const now = clock.now();
    if (now - renewedAt < leaseMs / 3) return;
    renewedAt = now;
    for (const each of held) await each.renew();
  };
}

/** Takes the leases of several sessions, all or none, for the time of the work. */
export async function withHeld<Result>(
  log: EventLog,
  { ids, ...holding }: Holding & { readonly ids: readonly string[] },
  work: (held: readonly HeldSession[]) => Promise<Result>,
): Promise<Result> {
  const held: HeldSession[] = [];
  try {
    for (const id of ids) held.push(await holdSession(log, id, holding));
    return await work(held);
  } finally {
    // A session that was removed has no lease.
    for (const each of held) await each.release();
  }
}
