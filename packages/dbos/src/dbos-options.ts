import type { EventLog, LogListener, Progress } from "@moora/agent";
import type { LockPool } from "./take-over.ts";

/** The options of `dbosHost`. */
export interface DbosHostOptions {
  /** The log with the sessions, whose leases the host holds. Other processes may read it; for servers, see `dbosLog`. */
  readonly log: EventLog;
  /**
   * A pool of `pg` for the database of DBOS. With it, processes take over the workflows of this agent from others that have ended; each
   * process needs an `executorID` of its own, and a host with this option: one without counts as ended. It keeps one connection. Default:
   * DBOS continues the workflows of a process when one with its `executorID` is launched again.
   */
  readonly takeOver?: LockPool;
  /** How often processes that have ended are looked for, in milliseconds, at most 2^31 - 1. Only with `takeOver`. Default: 1,000. */
  readonly takeOverPollMs?: number;
  /** What the tools and handlers of the agent need of this process. Default: none. */
  readonly context?: unknown;
  /** Receives the progress of the effects that run in this process: text, reasoning, what tools report. Default: dropped. */
  readonly onProgress?: (id: string, progress: Progress) => void;
  /** Receives errors that no caller waits for. Default: `console.error`. */
  readonly onError?: (error: unknown) => void;
  /**
   * Receives the log entries of the work in this process: inputs that do not apply, retries of models and tools, late results, and
   * appends of other processes that were first. Default: none.
   */
  readonly onLog?: LogListener;
}

/** How an input is posted. */
export interface DbosPostOptions {
  /**
   * Equal keys of one session are one post, also after a lost connection, whatever its `timestamp` and its `messageId` are. A session that
   * is created again after it was removed is another one. At most 200 characters. Default: a random key.
   */
  readonly key?: string;
  /** The user to whom the session belongs if this post creates it. Default: none. */
  readonly user?: string;
}
