import {
  effectsAt,
  LogError,
  type AgentState,
  type DispatchedInput,
  type SharedAppend,
  type SharedSession,
} from "@moora/agent";
import { RecordedPosts } from "./recorded-posts.ts";

/** Whether an error says that the session of a handle was removed. Another one may have its id now. */
export const isRemoval = (error: unknown): boolean =>
  error instanceof LogError && error.code === "LogRemoved";

interface Waiter {
  readonly check: (state: AgentState) => void;
  readonly reject: (error: unknown) => void;
}

/** A session as the workflows of this process see it. Its methods reject with `LogRemoved` once it was removed. */
export class HostedSession {
  readonly posts: RecordedPosts;
  readonly #session: SharedSession;
  readonly #runs = new Map<string, AbortController>();
  readonly #waiters = new Set<Waiter>();
  #stopWatching: (() => void) | undefined;

  constructor(session: SharedSession) {
    this.#session = session;
    this.posts = new RecordedPosts({
      append: (inputs) => this.append(inputs),
      configure: () => this.configure(),
      follow: (afterSeq, listener) => this.#used(session.follow(afterSeq, listener)),
    });
  }

  /** Whether an effect runs here, or a caller waits for a state. */
  get isUsed(): boolean {
    return this.#runs.size > 0 || this.#waiters.size > 0;
  }

  get id(): string {
    return this.#session.id;
  }

  get identity(): string {
    return this.#session.identity;
  }

  current(): AgentState {
    return this.#session.current();
  }

  async refresh(): Promise<AgentState> {
    return this.#changed(await this.#used(this.#session.refresh()));
  }

  async append(inputs: readonly DispatchedInput[]): Promise<SharedAppend> {
    const appended = await this.#used(this.#session.append(inputs));
    this.#changed(appended.state);
    return appended;
  }

  async configure(): Promise<void> {
    await this.#used(this.#session.configure());
  }

  /** Runs an effect with a signal that aborts when the state no longer wants it, and when the session was removed. */
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
    const { promise, resolve, reject } = Promise.withResolvers<AgentState>();
    const check = (state: AgentState): void => {
      try {
        if (isReached(state)) resolve(state);
      } catch (error) {
        reject(error);
      }
    };
    const waiter = { check, reject };
    this.#waiters.add(waiter);
    this.#watch();
    try {
      const [, state] = await Promise.all([this.refresh(), promise]);
      return state;
    } finally {
      this.#waiters.delete(waiter);
      this.#unwatch();
    }
  }

  #changed(state: AgentState): AgentState {
    const wanted = effectsAt(state);
    for (const [key, abort] of this.#runs) {
      if (wanted[key] === undefined)
        abort.abort(new DOMException("The session no longer wants this work.", "AbortError"));
    }
    for (const { check } of this.#waiters) check(state);
    return state;
  }

  /** The result of a use of the log. Where that finds the session removed, all that waits for it here ends. */
  async #used<Result>(use: Promise<Result>): Promise<Result> {
    try {
      return await use;
    } catch (error) {
      if (isRemoval(error)) this.#end(error);
      throw error;
    }
  }

  #end(error: unknown): void {
    for (const abort of this.#runs.values())
      abort.abort(new DOMException("The session was removed.", "AbortError"));
    for (const { reject } of this.#waiters) reject(error);
  }

  #watch(): void {
    // A log that cannot be read now reports its next change. That the session was removed, its waiters learn.
    this.#stopWatching ??= this.#session.watch(() => void this.refresh().catch(() => undefined));
  }

  #unwatch(): void {
    if (this.isUsed) return;
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }
}
