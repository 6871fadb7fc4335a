import type { Agent, BlobOptions, Clock, ErrorReport, EventLog, LogListener, OnApproval } from "@moora/agent";
import {
  blobProblem,
  checkOptions,
  isObject,
  refuse,
  type OptionForm,
  type OptionForms,
} from "@moora/agent-core-effects/internal";

/** What an object gives to its agent. */
export interface AgentSurroundings {
  /** The log in the storage of the object. Give it to `agentTool`, so that the session of a sub-agent outlives the object in memory. */
  readonly log: EventLog;
}

/** Options of {@link sessionObject}. `Env` is the type of the bindings of the worker. */
export interface SessionObjectOptions<Env> {
  /** The agent of the sessions. Called once for each object that is in memory. */
  // Any answer and any data: the object neither reads nor writes them.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly agent: (env: Env, surroundings: AgentSurroundings) => Agent<any, any>;
  /** What the tools of the agent need of the process, such as a binding; see `defineContext`. Default: none. */
  readonly context?: (env: Env) => object;
  /** Answers questions at once. Default: questions wait for a decision. */
  readonly onApproval?: OnApproval;
  /**
   * Stores the bytes of large files outside the records, as `blobs` of `openSession` does. Viewers read them at
   * `/sessions/:id/files/DIGEST`. Default: in the storage of the object. With `false` they stay in the records.
   */
  readonly blobs?: BlobOptions | false;
  /** How long a session without requests and work stays open, in milliseconds. An open session keeps its object in memory. Default: 10,000. */
  readonly idleMs?: number;
  /** How soon an alarm continues work whose object was lost, in milliseconds. Default: 30,000. */
  readonly heartbeatMs?: number;
  /** Receives the errors that no caller waits for. Default: `console.error`. */
  readonly onError?: (report: ErrorReport) => void;
  /** Receives the log entries of the session, as `onLog` of `openSession` does. Default: none. */
  readonly onLog?: LogListener;
  /** The clock of the sessions; the alarms are those of the platform. Default: `systemClock`. */
  readonly clock?: (env: Env) => Clock;
}

const milliseconds: OptionForm = {
  expectation: "a positive number of milliseconds below 2 ** 31",
  fits: (value) => typeof value === "number" && value > 0 && value < 2 ** 31,
};

const forms: OptionForms<SessionObjectOptions<unknown>> = {
  agent: "function",
  context: "function",
  onApproval: "function",
  blobs: {
    expectation: "false or an object of options",
    fits: (value) => value === false || isObject(value),
  },
  idleMs: milliseconds,
  heartbeatMs: milliseconds,
  onError: "function",
  onLog: "function",
  clock: "function",
};

/** Throws `BuildError` for an unknown option, for a value of the wrong form, and without an agent. */
export function checkSessionObjectOptions<Env>(options: SessionObjectOptions<Env>): void {
  checkOptions("sessionObject", options, forms);
  if (options.agent === undefined)
    refuse("sessionObject needs agent: sessionObject({ agent: (env) => defineAgent(...) }).");
  if (options.blobs === undefined || options.blobs === false) return;
  // The storage of the object is the store of its log.
  const problem = blobProblem("sessionObject", options.blobs, true);
  if (problem !== undefined) refuse(problem);
}
