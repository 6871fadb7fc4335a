import {
  effectsAt,
  LogError,
  openSharedSession,
  type Agent,
  type AgentState,
  type Clock,
  type DispatchedInput,
  type EventLog,
  type LogListener,
  type SharedAppend,
  type SharedSession,
} from "@moora/agent";

export interface HostedSessionsOptions {
  readonly agent: Agent<unknown>;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly owner: () => string;
  readonly onLog?: LogListener | undefined;
}

/** Beyond this number, sessions without work in this process are forgotten, the oldest first. */
const mostSessions = 1_000;

/** A session as the workflows of this process see it. */
export class HostedSession {
  readonly #session: SharedSession;
  readonly #runs = new Map<string, AbortController>();
  readonly #listeners = new Set<(state: AgentState) => void>();
  #stopWatching: (() => void) | undefined;

  constructor(session: SharedSession) {
    this.#session = session;
  }

  /** Whether an effect runs here, or a caller waits for a state. */
  get isUsed(): boolean {
    return this.#runs.size > 0 || this.#listeners.size > 0;
  }

  get identity(): string {
    return this.#session.identity;
  }

  current(): AgentState {
    return this.#session.current();
  }

  async refresh(): Promise<AgentState> {
    return this.#changed(await this.#session.refresh());
  }

  async append(inputs: readonly DispatchedInput[]): Promise<SharedAppend> {
    const appended = await this.#session.append(inputs);
    this.#changed(appended.state);
    return appended;
  }

  async configure(): Promise<void> {
    await this.#session.configure();
  }

  /** Runs an effect with a signal that aborts when the state no longer wants it. */
  async run(key: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const abort = new AbortController();
    this.#runs.set(key, abort);
    this.#watch();
    try {
      await work(abort.signal);
    } finally {
      this.#runs.delete(key);
      this.#unwatch();
    }
  }

  /** Resolves with the first state, from the newest on, that is as `isReached` says. */
  async waitFor(isReached: (state: AgentState) => boolean): Promise<AgentState> {
    const reached = Promise.withResolvers<AgentState>();
    const listener = (state: AgentState): void => {
      try {
        if (isReached(state)) reached.resolve(state);
      } catch (error) {
        reached.reject(error);
      }
    };
    this.#listeners.add(listener);
    this.#watch();
    try {
      await this.refresh();
      return await reached.promise;
    } finally {
      this.#listeners.delete(listener);
      this.#unwatch();
    }
  }

  #changed(state: AgentState): AgentState {
    const wanted = effectsAt(state);
    for (const [key, abort] of this.#runs) {
      if (wanted[key] === undefined)
        abort.abort(new DOMException("The session no longer wants this work.", "AbortError"));
    }
    for (const listener of this.#listeners) listener(state);
    return state;
  }

  #watch(): void {
    // A log that cannot be read now reports its next change.
    this.#stopWatching ??= this.#session.watch(() => void this.refresh().catch(() => undefined));
  }

  #unwatch(): void {
    if (this.isUsed) return;
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }
}

/** The sessions that this process has folded. */
export class HostedSessions {
  readonly #options: HostedSessionsOptions;
  readonly #sessions = new Map<string, Promise<HostedSession>>();

  constructor(options: HostedSessionsOptions) {
    this.#options = options;
  }

  /** The session of an id, which is created if there is none. Rejects with `SessionError` and `LogError`. */
  open(id: string, user?: string): Promise<HostedSession> {
    return this.#opened(id, () => this.#create(id, user));
  }

  /** The session of an id. Rejects with `LogRemoved` if there is none. */
  find(id: string): Promise<HostedSession> {
    return this.#opened(id, async () => {
      if ((await this.#options.log.open(id)) !== undefined) return await this.#create(id, undefined);
      throw new LogError("LogRemoved", `The session ${JSON.stringify(id)} was removed.`);
    });
  }

  async #opened(id: string, open: () => Promise<HostedSession>): Promise<HostedSession> {
    const known = this.#sessions.get(id);
    if (known !== undefined) return await known;
    const opening = open();
    this.#sessions.set(id, opening);
    opening.catch(() => this.#sessions.delete(id));
    const session = await opening;
    await this.#forgetOldest();
    return session;
  }

  /** Forgets a session, such as one that was removed. */
  forget(id: string): void {
    this.#sessions.delete(id);
  }

  async #create(id: string, user: string | undefined): Promise<HostedSession> {
    const { agent, log, clock, owner, onLog } = this.#options;
    const session = await openSharedSession(agent, {
      log,
      id,
      clock,
      owner: owner(),
      ...(user === undefined ? {} : { user }),
      ...(onLog === undefined ? {} : { onLog }),
    });
    return new HostedSession(session);
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
