import { BuildError, type EventLog } from "@moora/agent";

/** The options of a worker. */
export interface WorkerOptions {
  /** How often the log is asked for sessions that are due, in milliseconds. Default: 1,000. */
  readonly pollMs?: number;
  /** How many sessions the worker runs at the same time. Default: 100. */
  readonly maxSessions?: number;
}

/** The default options of a worker. */
export const defaultWorkerOptions: Required<WorkerOptions> = /* @__PURE__ */ Object.freeze({
  pollMs: 1_000,
  maxSessions: 100,
});

/** The options of a worker with their defaults; undefined for a server without one. Throws `BuildError`. */
export function workerOptionsOf(
  worker: boolean | WorkerOptions,
  log: EventLog,
): Required<WorkerOptions> | undefined {
  if (worker === false) return undefined;
  if (log.owner !== undefined) {
    throw new BuildError(
      `The log "${log.name}" needs no worker: ${log.owner} runs what is due in its sessions. Leave worker out.`,
    );
  }
  if (log.due === undefined) {
    throw new BuildError(
      `The log "${log.name}" cannot list due sessions, which a worker needs. Use sqliteLog, postgresLog or memoryLog.`,
    );
  }
  return { ...defaultWorkerOptions, ...(worker === true ? {} : worker) };
}
