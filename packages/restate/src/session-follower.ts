import { foldHeader, LogError, systemClock, type AgentState } from "@moora/agent";
import { isFoldedHere } from "@moora/agent/internal";
import { digestOf } from "@moora/event-log";
import { logRemoved } from "@moora/event-log/store";
import { FollowedSession } from "./followed-session.ts";
import { RestateFailure } from "./ingress.ts";
import type { RestateSession } from "./session-handle.ts";
import type { SessionCache, SessionWithHeader } from "./session-cache.ts";
import type { SessionReader } from "./session-reader.ts";

export interface FollowerOptions {
  readonly id: string;
  readonly reader: SessionReader;
  readonly cache: Pick<SessionCache, "readCurrent">;
  readonly decide: RestateSession["decide"];
}

/** What a caller waits for. */
export interface Following {
  /** Whether to stop reading. */
  readonly isOver: () => boolean;
  /** Receives the state after each record. Default: none. */
  readonly onState?: (state: AgentState) => void;
  /** Whether the session must exist, because an input of the caller has applied. Default: no, it is waited for. */
  readonly exists?: boolean;
}

/** The wait between two reads, in milliseconds: the first one after a change, doubled at each read up to the longest one. */
const [firstWaitMs, longestWaitMs] = [25, 1_000];

/** Follows the records of a session for one caller who waits. */
export class SessionFollower<Answer> {
  readonly #options: FollowerOptions;
  readonly #onOpen: (session: FollowedSession<Answer>) => void;
  #session: FollowedSession<Answer> | undefined;
  #waitMs = firstWaitMs;
  #endWait: () => void = () => undefined;

  /** `onOpen` receives the session when it is known, before a record that follows. */
  constructor(
    options: FollowerOptions,
    onOpen: (session: FollowedSession<Answer>) => void = () => undefined,
  ) {
    this.#options = options;
    this.#onOpen = onOpen;
  }

  /** The session as far as it was read; undefined if it has received nothing. */
  get session(): FollowedSession<Answer> | undefined {
    return this.#session;
  }

  /** Reads the session as it is now. Rejects with `RestateFailure`. */
  async begin(): Promise<void> {
    const known = await this.#options.cache.readCurrent(this.#options.id);
    if (known !== undefined) await this.#openAt(known);
  }

  /** Polls for new records until `isOver` returns true. Rejects if the session is removed, or can no longer be read. */
  async follow({ isOver, onState = () => undefined, exists = false }: Following): Promise<void> {
    while (!isOver()) {
      const hasChanged = await this.#hasChanged(onState, exists);
      this.#waitMs = hasChanged ? firstWaitMs : Math.min(2 * this.#waitMs, longestWaitMs);
      if (!isOver()) await this.#wait();
    }
  }

  /**
   * Follows until a state, from the newest on, is as `isReached` says, and resolves with it. Rejects with what that throws, too. Waits for a
   * session that has received nothing.
   */
  async waitFor(isReached: (state: AgentState) => boolean): Promise<AgentState> {
    await this.begin();
    const { promise, resolve } = Promise.withResolvers<AgentState>();
    let isOver = false;
    const onState = (state: AgentState): void => {
      if (isOver || !isReached(state)) return;
      isOver = true;
      resolve(state);
    };
    if (this.#session !== undefined) onState(this.#session.state);
    await this.follow({ isOver: () => isOver, onState });
    return await promise;
  }

  /** Reads at once: the handle has posted an input, or it is over. */
  wake(): void {
    this.#waitMs = firstWaitMs;
    this.#endWait();
  }

  /** Opens a session where it is now. One that another release has folded is folded again. */
  async #openAt({ header, session }: SessionWithHeader): Promise<void> {
    const isOfRelease = isFoldedHere(session) && session.head.digest !== "";
    this.#open({ header, session: isOfRelease ? session : foldHeader(header) });
    if (!isOfRelease) await this.#read(() => undefined, true);
  }

  #open(known: SessionWithHeader): FollowedSession<Answer> {
    const { id, decide } = this.#options;
    this.#session = new FollowedSession<Answer>(id, known, decide);
    this.#onOpen(this.#session);
    return this.#session;
  }

  /** Reads what is new. While Restate does not answer, nothing is. */
  async #hasChanged(onState: (state: AgentState) => void, exists: boolean): Promise<boolean> {
    try {
      return await this.#read(onState, exists);
    } catch (error) {
      if (isOutage(error)) return false;
      throw error;
    }
  }

  /** Resolves with whether there was a new record. */
  async #read(onState: (state: AgentState) => void, exists: boolean): Promise<boolean> {
    const { id, reader } = this.#options;
    const head = await reader.readHead(id);
    if (head === undefined && exists) throw logRemoved(id);
    const session = this.#session ?? (await this.#openNew(head?.header));
    if (session === undefined) return false;
    if (head?.header !== session.header) throw logRemoved(id);
    const before = session.seq;
    try {
      const range = { after: before, last: head.seq };
      for await (const page of reader.recordPages(id, range)) session.fold(page, onState);
    } catch (error) {
      // The records of another session with its id do not continue this one.
      const isChecked = error instanceof LogError;
      if (isChecked && (await reader.readHead(id))?.header !== session.header) throw logRemoved(id);
      throw error;
    }
    return session.seq > before;
  }

  /** Opens a session that did not exist before its first record; undefined as long as it does not. */
  async #openNew(digest: string | undefined): Promise<FollowedSession<Answer> | undefined> {
    const header = digest === undefined ? undefined : await this.#options.reader.readHeader(this.#options.id);
    if (header === undefined || digestOf(header) !== digest) return undefined;
    return this.#open({ header, session: foldHeader(header) });
  }

  async #wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = systemClock.after(this.#waitMs, resolve);
    this.#endWait = resolve;
    await promise;
    cancel();
  }
}

/** Whether Restate does not answer, or its services do not work: a later read may succeed. */
const isOutage = (error: unknown): boolean =>
  error instanceof RestateFailure && (error.status === undefined || error.status >= 500);
