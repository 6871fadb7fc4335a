import { nextWorkAt } from "@moora/agent";
import type { SessionRef } from "../access/grant.ts";
import { HttpProblem, sessionNotFound, unavailable } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import { LiveSession } from "./live-session.ts";

/** A session that is kept open until it is released. */
export interface SessionHold {
  readonly live: LiveSession;
  /** Can be called more than once. */
  release(): void;
}

interface HoldOptions {
  /** Whether the session, which exists, is only read: one without work is not claimed then. Default: false. */
  readonly isRead?: boolean;
}

interface Entry {
  readonly opening: Promise<LiveSession>;
  holds: number;
  /** The number of holds so far. */
  uses: number;
  /** Cancels the wait for the end of an idle session; undefined while it is not idle. */
  cancelIdle: (() => void) | undefined;
  isClosed: boolean;
  /** When the session became idle, as a count. */
  idleSince: number;
}

/**
 * The open sessions. One without requests, streams and work is closed after a while, and opened again on demand. Beyond
 * `maxOpenSessions` those that have been idle for the longest time are closed first.
 */
export class SessionPool {
  readonly #context: ServerContext;
  readonly #entries = new Map<string, Entry>();
  readonly #closing = new Map<string, Promise<void>>();
  #idleCount = 0;
  #isClosed = false;

  constructor(context: ServerContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The session of an id, if it is open, or when it has opened. */
  async opened(id: string): Promise<LiveSession | undefined> {
    return await this.#entries.get(id)?.opening.catch(() => undefined);
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /**
   * Runs a session until it has settled, and closes it at once unless a request uses it. `busy`: another process runs it, or it is
   * still due.
   */
  async settle(ref: SessionRef): Promise<"settled" | "busy"> {
    const { live, release } = await this.hold(ref);
    const entry = this.#entries.get(ref.id);
    const uses = entry?.uses;
    try {
      await live.session.settled();
      return live.isOwner && nextWorkAt(live.session.current()) !== 0 ? "settled" : "busy";
    } finally {
      release();
      if (entry?.holds === 0 && entry.uses === uses) {
        this.#closeEntry(ref.id, entry, 0);
        await this.#closing.get(ref.id);
      }
    }
  }

  /** Runs work on a session, which stays open meanwhile. */
  async use<Result>(
    ref: SessionRef,
    work: (live: LiveSession) => Promise<Result>,
    options: HoldOptions = {},
  ): Promise<Result> {
    const { live, release } = await this.hold(ref, options);
    try {
      return await work(live);
    } finally {
      release();
    }
  }

  /**
   * Opens a session and keeps it open. Without `isRead` a session that rests is claimed, so that this server runs it or posts to its
   * owner. Throws `HttpProblem`: `not-found` for an agent that this server does not have and for a session that was removed,
   * `unavailable` if no other session can be closed for it, and while the server closes.
   */
  async hold(ref: SessionRef, { isRead = false }: HoldOptions = {}): Promise<SessionHold> {
    const entry = await this.#entryOf(ref, isRead);
    entry.holds += 1;
    entry.uses += 1;
    entry.cancelIdle?.();
    entry.cancelIdle = undefined;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      entry.holds -= 1;
      if (entry.holds === 0) this.#waitForIdle(ref.id, entry);
    };
    try {
      const live = await entry.opening;
      if (!isRead) await live.claim();
      if (live.isEnded) throw sessionNotFound();
      return { live, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Closes a session, such as one that is about to be removed. */
  async close(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry !== undefined) this.#closeEntry(id, entry, 0);
    await this.#closing.get(id);
  }

  /** Closes all sessions. Running tools have `graceMs` to end. */
  async closeAll(graceMs: number): Promise<void> {
    this.#isClosed = true;
    for (const [id, entry] of this.#entries) this.#closeEntry(id, entry, graceMs);
    await Promise.all(this.#closing.values());
  }

  async #entryOf(ref: SessionRef, isRead: boolean): Promise<Entry> {
    for (;;) {
      if (this.#isClosed) throw unavailable("The server is closing.");
      const found = this.#entries.get(ref.id);
      if (found !== undefined) return found;
      const closing = this.#closing.get(ref.id);
      if (closing !== undefined) await closing;
      else if (this.#entries.size >= this.#context.limits.maxOpenSessions) await this.#closeOldest();
      else return this.#open(ref, isRead);
    }
  }

  #open(ref: SessionRef, isRead: boolean): Entry {
    const agent = this.#context.agents.get(ref.agent);
    if (agent === undefined) throw sessionNotFound();
    const opening = LiveSession.open(this.#context, agent, ref, isRead);
    const entry: Entry = { opening, holds: 0, uses: 0, cancelIdle: undefined, isClosed: false, idleSince: 0 };
    this.#entries.set(ref.id, entry);
    const forget = (): void => {
      if (this.#entries.get(ref.id) === entry) this.#entries.delete(ref.id);
    };
    opening.then((live) => live.listen({ onEnded: forget }), forget);
    return entry;
  }

  async #closeOldest(): Promise<void> {
    const idle = [...this.#entries].filter(([, { cancelIdle }]) => cancelIdle !== undefined);
    const [oldest] = idle.toSorted(([, one], [, other]) => one.idleSince - other.idleSince);
    if (oldest === undefined) throw unavailable("Too many sessions are in use. Retry.");
    const [id, entry] = oldest;
    this.#closeEntry(id, entry, 0);
    await this.#closing.get(id);
  }

  /** Closes the entry after `sessionIdleMs` without a hold, once its work has ended. */
  #waitForIdle(id: string, entry: Entry): void {
    const { clock, limits } = this.#context;
    const { uses } = entry;
    const isIdle = (): boolean => !entry.isClosed && entry.holds === 0 && entry.uses === uses;
    const closeIfSettled = async (live: LiveSession): Promise<void> => {
      // A deadline of a question may have continued the work meanwhile.
      await live.session.settled();
      if (isIdle()) this.#closeEntry(id, entry, 0);
    };
    const wait = async (): Promise<void> => {
      const live = await entry.opening;
      await live.session.settled();
      if (!isIdle()) return;
      entry.idleSince = this.#idleCount += 1;
      entry.cancelIdle = clock.after(limits.sessionIdleMs, () => void closeIfSettled(live), {
        keepsAlive: false,
      });
    };
    wait().catch(() => undefined);
  }

  #closeEntry(id: string, entry: Entry, graceMs: number): void {
    entry.isClosed = true;
    entry.cancelIdle?.();
    if (this.#entries.get(id) === entry) this.#entries.delete(id);
    const closing = (async () => {
      try {
        await (await entry.opening).close(graceMs);
      } catch (error) {
        if (!(error instanceof HttpProblem)) this.#context.onError(error);
      } finally {
        this.#closing.delete(id);
      }
    })();
    this.#closing.set(id, closing);
  }
}
