import {
  LogError,
  openSharedSession,
  type Agent,
  type Clock,
  type EventLog,
  type LogListener,
  type SharedSession,
} from "@moora/agent";
import { dbosEngine } from "./engine.ts";
import { RecordedPosts } from "./recorded-posts.ts";

/** A session as the workflows of this process see it. Its methods reject with `LogRemoved` once it was removed. */
export interface HostedSession extends SharedSession {
  readonly posts: RecordedPosts;
}

/** Whether an error says that the session of a handle was removed. Another one may have its id now. */
export const isRemoval = (error: unknown): boolean =>
  error instanceof LogError && error.code === "LogRemoved";

export interface HostedSessionsOptions {
  readonly agent: Agent<unknown>;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly owner: () => string;
  readonly onLog?: LogListener | undefined;
}

/** Beyond this number, sessions without work in this process are forgotten, the oldest first. */
const mostSessions = 1_000;

/** The sessions that this process has folded. */
export class HostedSessions {
  readonly #options: HostedSessionsOptions;
  readonly #sessions = new Map<string, Promise<HostedSession>>();

  constructor(options: HostedSessionsOptions) {
    this.#options = options;
  }

  /**
   * The newest form of the session of an id, which is created if there is none, also if the one that this process knows was
   * removed. Rejects with `SessionError` and `LogError`.
   */
  async open(id: string, user?: string): Promise<HostedSession> {
    for (;;) {
      const found = await this.#newest(id, user);
      if (found !== undefined) return found;
    }
  }

  /** The newest form of the session of an id; undefined if there is none. Rejects with `SessionError` and `LogError`. */
  async find(id: string): Promise<HostedSession | undefined> {
    for (;;) {
      if (!this.#sessions.has(id) && (await this.#options.log.open(id)) === undefined) return undefined;
      const found = await this.#newest(id);
      if (found !== undefined) return found;
    }
  }

  /** The newest form of a session. Undefined if it was removed meanwhile: this process has forgotten it then. */
  async #newest(id: string, user?: string): Promise<HostedSession | undefined> {
    const known = this.#sessions.get(id);
    const opening = known ?? this.#create(id, user);
    if (known === undefined) this.#sessions.set(id, opening);
    try {
      const session = await opening;
      if (known === undefined) await this.#forgetOldest();
      else await session.refresh();
      return session;
    } catch (error) {
      const isGone = isRemoval(error);
      if ((known === undefined || isGone) && this.#sessions.get(id) === opening) this.#sessions.delete(id);
      if (isGone) return undefined;
      throw error;
    }
  }

  async #create(id: string, user: string | undefined): Promise<HostedSession> {
    const { agent, log, clock, owner, onLog } = this.#options;
    const session = await openSharedSession(agent, {
      log,
      id,
      clock,
      owner: owner(),
      engine: dbosEngine,
      ...(user === undefined ? {} : { user }),
      ...(onLog === undefined ? {} : { onLog }),
    });
    return Object.assign(session, { posts: new RecordedPosts(session) });
  }

  async #forgetOldest(): Promise<void> {
    for (const [id, opening] of this.#sessions) {
      if (this.#sessions.size <= mostSessions) return;
      // The caller that opens a session gets the error if that fails.
      const session = await opening.catch(() => undefined);
      if (session?.isUsed === false) this.#sessions.delete(id);
    }
  }
}
