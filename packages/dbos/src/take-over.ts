import { DBOS } from "@dbos-inc/dbos-sdk";
import { BuildError } from "@moora/agent";

/** The part of a connection of `pg` that a take-over uses. */
export interface LockClient {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  on(event: "error" | "end", listener: () => void): unknown;
  release(isBroken?: boolean): void;
}

/** The part of a `Pool` of `pg` that a take-over uses. */
export interface LockPool {
  connect(): Promise<LockClient>;
}

export interface TakeOverOptions {
  readonly pool: LockPool;
  readonly pollMs: number;
  /** The names of the workflows. */
  readonly workflows: readonly string[];
  readonly onError: (error: unknown) => void;
}

/** How often the lock of an executor of the same name is tried: its process may have ended a moment ago. */
const mostTries = 20;

/**
 * Takes over the workflows of processes that have ended. Each process holds an advisory lock of PostgreSQL with the name of its
 * executor, which the server releases when the connection ends. A process that gets the lock of another one resumes its
 * workflows, so that any process runs them. A process that is taken over by mistake does no harm: the log refuses the
 * second run of an effect.
 */
export class TakeOver {
  readonly #options: TakeOverOptions;
  #client: LockClient | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #polling: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: TakeOverOptions) {
    this.#options = options;
  }

  /** Throws `BuildError` if another process has the executor id of this one. */
  async start(): Promise<void> {
    this.#isStopped = false;
    for (let tries = 1; !(await this.#lockOwn()); tries += 1) {
      if (tries === mostTries) {
        throw new BuildError(
          `Another process has the executor id "${DBOS.executorID}". Give each process its own: DBOS.setConfig({ executorID }).`,
        );
      }
      await this.#pause();
    }
    this.#schedule();
  }

  /** Takes over nothing more. The workflows of this process stay its own until `release`. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#polling;
  }

  /** Gives what is left of the workflows of this process away. */
  release(): void {
    this.#drop();
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void setTimeout(resolve, this.#options.pollMs));
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#polling = this.#poll()
        .catch(this.#options.onError)
        .then(() => this.#schedule());
    }, this.#options.pollMs);
    this.#timer.unref();
  }

  async #poll(): Promise<void> {
    if (this.#client === undefined && !(await this.#lockOwn())) return;
    const pending = await DBOS.listWorkflows({
      status: "PENDING",
      workflowName: [...this.#options.workflows],
      loadInput: false,
      loadOutput: false,
    });
    const byExecutor = Map.groupBy(pending, ({ executorId }) => executorId ?? "");
    for (const [executor, workflows] of byExecutor) {
      if (executor === DBOS.executorID || executor === "" || !(await this.#lock(executor))) continue;
      try {
        await DBOS.resumeWorkflows(workflows.map(({ workflowID }) => workflowID));
      } finally {
        await this.#client?.query("SELECT pg_advisory_unlock(hashtextextended($1, 0))", [lockOf(executor)]);
      }
    }
  }

  /** Takes the lock of this executor on a connection that is kept. */
  async #lockOwn(): Promise<boolean> {
    if (this.#client === undefined) {
      const client = await this.#options.pool.connect();
      const lost = (): void => {
        if (this.#client === client) this.#drop();
      };
      client.on("error", lost);
      client.on("end", lost);
      this.#client = client;
    }
    return await this.#lock(DBOS.executorID);
  }

  async #lock(executor: string): Promise<boolean> {
    const result = await this.#client?.query("SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS got", [
      lockOf(executor),
    ]);
    return result?.rows[0]?.["got"] === true;
  }

  /** The connection is not returned to the pool: its end releases its locks. */
  #drop(): void {
    this.#client?.release(true);
    this.#client = undefined;
  }
}

const lockOf = (executor: string): string => `moora-dbos/${executor}`;
