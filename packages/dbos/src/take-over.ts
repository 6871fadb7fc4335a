import { DBOS } from "@dbos-inc/dbos-sdk";
import { BuildError } from "@moora/agent";
import { namesOf } from "./engine.ts";

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
  readonly agent: string;
  readonly onError: (error: unknown) => void;
}

/** How often the lock of an executor of the same name is tried: its process may have ended a moment ago. */
const mostTries = 20;

/** The take-over that holds the lock of this process for all of its take-overs, by executor. */
const holders = new Map<string, TakeOver>();

/**
 * Takes over the workflows of one agent from processes that have ended. Each process holds one advisory lock of PostgreSQL with the name
 * of its executor, which the server releases when the connection ends. A process that gets the lock of another one resumes its workflows
 * of the agent in the queue of the agent, so that any process with the host runs them. A process that is taken over by mistake does no
 * harm: the log refuses the second run of an effect. The lock also shows whether two processes have the same executor.
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
    if (!(await this.#lockOwn())) return;
    for (const [executor, ids] of await this.#listPending()) {
      if (executor === DBOS.executorID || executor === "" || !(await this.#lock(executor))) continue;
      try {
        // Without a queue, a process with other agents could take them, which listenQueues does not prevent.
        await DBOS.resumeWorkflows(ids, { queueName: namesOf(this.#options.agent).queue });
      } finally {
        const unlock = "SELECT pg_advisory_unlock(hashtextextended($1, 0))";
        await this.#client?.query(unlock, [lockNameOf(executor)]);
      }
    }
  }

  /** The ids of the workflows of the agent that have not ended, by executor. */
  async #listPending(): Promise<ReadonlyMap<string, string[]>> {
    const pending = await DBOS.listWorkflows({
      status: "PENDING",
      workflowName: Object.values(namesOf(this.#options.agent).workflows),
      loadInput: false,
      loadOutput: false,
    });
    const byExecutor = Map.groupBy(pending, ({ executorId }) => executorId ?? "");
    return new Map(
      [...byExecutor].map(([executor, workflows]) => [
        executor,
        workflows.map(({ workflowID }) => workflowID),
      ]),
    );
  }

  /** Takes the lock of this process, unless a take-over of this process has it. */
  async #lockOwn(): Promise<boolean> {
    const { executorID } = DBOS;
    if (holders.has(executorID)) return true;
    const isLocked = await this.#lock(executorID);
    if (isLocked) holders.set(executorID, this);
    return isLocked;
  }

  async #lock(executor: string): Promise<boolean> {
    const client = await this.#connect();
    const tryLock = "SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS got";
    const { rows } = await client.query(tryLock, [lockNameOf(executor)]);
    return rows[0]?.["got"] === true;
  }

  /** The connection with the locks of this take-over, which is kept. */
  async #connect(): Promise<LockClient> {
    if (this.#client !== undefined) return this.#client;
    const client = await this.#options.pool.connect();
    const lost = (): void => {
      if (this.#client === client) this.#drop();
    };
    client.on("error", lost);
    client.on("end", lost);
    this.#client = client;
    return client;
  }

  /** The connection is not returned to the pool: its end releases its locks. */
  #drop(): void {
    if (holders.get(DBOS.executorID) === this) holders.delete(DBOS.executorID);
    this.#client?.release(true);
    this.#client = undefined;
  }
}

const lockNameOf = (executor: string): string => `moora-dbos/${executor}`;
