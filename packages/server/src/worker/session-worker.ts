import type { DueSession } from "@moora/event-log";
import type { SessionRef } from "../access/grant.ts";
import { HttpProblem } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import type { SessionDirectory } from "../sessions/directory.ts";
import { isOfSubAgent } from "../sessions/session-header.ts";
import type { SessionPool } from "../sessions/session-pool.ts";
import { LastAttempts } from "./last-attempts.ts";
import { PutOffs } from "./put-offs.ts";
import type { WorkerOptions } from "./worker-options.ts";

/** How many due sessions one query returns. */
const pageLength = 100;
/** How many queries one poll makes at most; the next one continues after them. */
const maxPages = 10;

interface WorkerParts {
  readonly context: ServerContext;
  readonly directory: SessionDirectory;
  readonly pool: SessionPool;
}

/**
 * Runs the sessions of a log that have work and that no process runs: retries, deadlines and reminders that are due, messages that
 * were posted and not answered, and what a process left that was killed. Leases keep several workers apart.
 */
export class SessionWorker {
  readonly #parts: WorkerParts;
  readonly #options: Required<WorkerOptions>;
  readonly #putOffs: PutOffs;
  readonly #lastAttempts: LastAttempts;
  readonly #running = new Set<string>();
  #cursor: Pick<DueSession, "due" | "id"> | undefined;
  #cancelPoll: () => void = () => undefined;
  #isClosed = false;

  constructor(parts: WorkerParts, options: Required<WorkerOptions>) {
    this.#parts = parts;
    this.#options = options;
    this.#putOffs = new PutOffs(parts.context.clock);
    this.#lastAttempts = new LastAttempts(parts.context.log);
    this.#schedule();
  }

  /** The number of sessions that the worker runs. */
  get size(): number {
    return this.#running.size;
  }

  /** Stops to look for sessions. Those that run are closed with the pool. */
  close(): void {
    this.#isClosed = true;
    this.#cancelPoll();
  }

  #schedule(): void {
    const poll = async (): Promise<void> => {
      try {
        await this.#poll();
      } catch (error) {
        this.#parts.context.onError(error);
      }
      if (!this.#isClosed) this.#schedule();
    };
    this.#cancelPoll = this.#parts.context.clock.after(this.#options.pollMs, () => void poll());
  }

  /** Starts the sessions that are due, up to the number that may run at the same time. */
  async #poll(): Promise<void> {
    const { log, clock } = this.#parts.context;
    for (let page = 0; page < maxPages && this.#hasCapacity; page += 1) {
      const query = { now: clock.now(), limit: pageLength, after: this.#cursor };
      const sessions = (await log.due?.(query)) ?? [];
      for (const session of sessions) {
        // The next poll continues with this session.
        if (!this.#hasCapacity) return;
        this.#cursor = session;
        const ref = this.#refOf(session);
        if (ref !== undefined) void this.#run(ref);
      }
      if (sessions.length < pageLength) {
        this.#cursor = undefined;
        return;
      }
    }
  }

  get #hasCapacity(): boolean {
    return !this.#isClosed && this.#running.size < this.#options.maxSessions;
  }

  /**
   * The session if it is to be run: not one that is open here, that failed a moment ago, of an agent of other servers, or of a
   * sub-agent, which runs in the session of its caller.
   */
  #refOf({ id, header }: DueSession): SessionRef | undefined {
    const { directory, pool } = this.#parts;
    if (this.#running.has(id) || pool.has(id) || this.#putOffs.has(id)) return undefined;
    if (isOfSubAgent(header)) return undefined;
    return directory.refOf(id, header);
  }

  async #run(ref: SessionRef): Promise<void> {
    const { context, pool } = this.#parts;
    this.#running.add(ref.id);
    try {
      // The next poll finds it again.
      if (!(await this.#lastAttempts.admit(ref.id))) return;
      const result = await pool.settle(ref);
      context.counters.count("moora_worker_sessions_total", { result });
      if (result === "settled") this.#putOffs.remove(ref.id);
      else this.#putOffs.add(ref.id);
    } catch (error) {
      this.#putOffs.add(ref.id);
      context.counters.count("moora_worker_sessions_total", { result: "failed" });
      // A session that was removed, or a server that is busy or closing.
      if (!(error instanceof HttpProblem)) context.onError(error);
    } finally {
      this.#lastAttempts.release(ref.id);
      this.#running.delete(ref.id);
    }
  }
}
