import type { Clock } from "@moora/agent-core-effects";
import type { EventLog, Lease, SessionLog } from "@moora/event-log";
import { closesSession, closingClaim, replacingClaim } from "../durable/closed-copy.ts";
import { closedError } from "../durable/closed-session.ts";
import { engineClaim } from "../durable/engine-lease.ts";
import { engineOf, holderOf, isDead, ownerOf } from "../durable/lease-holder.ts";
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
  /** Undoes `close`. */
  reopen(): Promise<void>;
  /** Releases the lease of a session that is not closed. */
  release(): Promise<void>;
}

/** How long a lease lasts that is not renewed: as long as that of a session by default. */
const leaseMs = 30_000;

/** The lease of a session; undefined without one, and for a session that does not exist or is removed meanwhile. */
export async function leaseIn(log: EventLog, id: string): Promise<Lease | undefined> {
  const session = await log.open(id);
  return session && (await unlessRemoved(async () => await session.currentLease(), undefined));
}

/** Whether a process runs the session, as far as is known, or it is a closed copy. An engine does not hold its sessions. */
export async function isLeased(log: EventLog, id: string, clock: Clock): Promise<boolean> {
  const lease = await leaseIn(log, id);
  return lease !== undefined && engineOf(lease.owner) === undefined && (await isInForce(lease, clock));
}

/** Whether a lease has not ended, and neither has its owner as far as is known. */
export const isInForce = async (lease: Lease | undefined, clock: Clock): Promise<boolean> =>
  lease !== undefined && lease.until > clock.now() && !(await isDead(lease));

/** How sessions are held. */
interface Holding {
  readonly clock: Clock;
  /** Whether a closed session may be held by its closer. Default: none. */
  readonly mayContinue?: (id: string, closer: string) => boolean | Promise<boolean>;
}

/**
 * Takes the lease of a session. Rejects with `SessionUnknown`, with `SessionBusy` if a process runs the session, with `MoveUnfinished`
 * or `SessionIncomplete` for a closed one, and with `InvalidOption` for a log whose sessions have no `removeAt`.
 */
export async function holdSession(
  log: EventLog,
  id: string,
  { clock, mayContinue = () => false }: Holding,
): Promise<HeldSession> {
  const session = await log.open(id);
  if (session === undefined) throw new SessionError("SessionUnknown", `Session "${id}" not found.`);
  if (session.removeAt === undefined) {
    throw new SessionError(
      "InvalidOption",
      `The log "${log.name}" cannot move or prune sessions: its sessions have no removeAt.`,
    );
  }
  const lease = new HeldLease(session, clock);
  await lease.take(mayContinue);
  return {
    session,
    holder: lease.holder,
    removeAt: async (seq) => (await session.removeAt?.(seq)) === true,
    renew: async () => await lease.renew(),
    close: async (closer) => await lease.close(closer),
    reopen: async () => await lease.reopen(),
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
  #holder = holderOf(localProcess()?.name ?? randomId("retention"));
  /** The engine that has the lease, also after the session is opened again. */
  #engine: string | undefined;

  constructor(session: SessionLog, clock: Clock) {
    this.#session = session;
    this.#clock = clock;
  }

  get holder(): string {
    return this.#holder;
  }

  async take(mayContinue: NonNullable<Holding["mayContinue"]>): Promise<void> {
    const session = this.#session;
    const { owner, ...rest } = await this.#claim();
    if (owner === this.#holder) return;
    this.#engine = engineOf(owner);
    if (this.#engine !== undefined) this.#holder = owner;
    if (closesSession(owner) && (await mayContinue(session.id, owner))) this.#holder = owner;
    else if (await isDead({ owner, ...rest })) await session.release(owner);
    await this.renew();
  }

  async renew(): Promise<void> {
    const lease = await this.#claim();
    if (lease.owner !== this.#holder) throw isBusy(this.#session.id, lease);
  }

  async close(closer: string): Promise<void> {
    if (this.#holder === closer) return;
    const lease = await this.#session.currentLease();
    // Records that another process adds in between are copied: the session is removed only at its last one.
    if (!closesSession(this.#holder)) await this.#session.release(this.#holder);
    else if (lease?.owner === this.#holder)
      await this.#session.lease(replacingClaim(lease, closer, this.#clock.now()));
    this.#holder = closer;
    await this.renew();
  }

  async reopen(): Promise<void> {
    if (!closesSession(this.#holder)) return;
    await this.#session.release(this.#holder);
    if (this.#engine !== undefined) await this.#session.lease(engineClaim(this.#engine, this.#clock.now()));
  }

  async release(): Promise<void> {
    const isOwn = !closesSession(this.#holder) && engineOf(this.#holder) === undefined;
    if (isOwn) await this.#session.release(this.#holder);
  }

  async #claim(): Promise<Lease> {
    const [owner, now] = [this.#holder, this.#clock.now()];
    const engine = engineOf(owner);
    if (engine !== undefined) return await this.#session.lease(engineClaim(engine, now));
    return await this.#session.lease(
      closesSession(owner) ? closingClaim(owner, now, "incomplete") : { owner, now, ttlMs: leaseMs },
    );
  }
}

/** Removes a session without records, for which `removeAt` does not work. Returns false for one that has got a record meanwhile. */
export const removeEmpty = async (log: EventLog, session: SessionLog): Promise<boolean> =>
  (await session.head()) === 0 && (await log.remove(session.id));

/** The error for a session that a process runs. */
export function isBusy(id: string, lease: Lease): SessionError {
  if (closesSession(lease.owner)) return closedError(id, lease);
  const { owner, until } = lease;
  const name = ownerOf(owner);
  return new SessionError(
    "SessionBusy",
    `The session ${id} is run by ${name}. Close it there, or wait for the end of its lease.`,
    { owner: name, until },
  );
}

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
