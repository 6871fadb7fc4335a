import type { AgentInput, AgentState, Agent, EventLog, LogListener, Progress } from "@moora/agent";
import { checkIsReached } from "@moora/agent/internal";
import { checkArguments } from "./check-arguments.ts";
import { checkedPost, checkId } from "./check-post.ts";
import { SessionWorkflows } from "./session-workflows.ts";
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

/** The sessions of one agent as workflows of DBOS. */
export interface DbosHost {
  /**
   * Posts an input to a session, which is created if there is none of this id. Resolves with whether it applied, after it is
   * durable. Rejects with `InputRefused` for an input that is invalid, or that only the workflows may dispatch, and, code `key-reused`, for
   * the key of another input, with `BuildError` for an unknown or invalid option and before `DBOS.launch()`, and with `LogError`,
   * code `InvalidId`, for an id that the log cannot store. Nothing is done then. Rejects with `DataRefused` for a session whose data this
   * release cannot use: a process of another release can make the post with the same key.
   */
  post(id: string, input: AgentInput, options?: DbosPostOptions): Promise<boolean>;
  /** The newest state of a session, which is created if there is none of this id. */
  stateOf(id: string): Promise<AgentState>;
  /**
   * Resolves with the first state, from the newest on, that is as `isReached` says. Rejects with `LogError`, code `LogRemoved`, if the
   * session is removed meanwhile.
   */
  waitFor(id: string, isReached: (state: AgentState) => boolean): Promise<AgentState>;
}

/**
 * Registers the workflows of an agent with DBOS: call it once, before `DBOS.launch()`. Each post is a workflow, and so is each
 * effect: a model call, a tool call, a wait. DBOS decides when they run, and the log whether they still may: a repeated
 * run of an effect is reported as an interruption, and the replay policy of its tool decides what follows. Throws
 * `BuildError` for an invalid argument, for an agent whose name another host of this process has, without a `context` that the agent
 * needs, and for a sub-agent that asks a person, unless `onApproval` of `agentTool` answers it.
 */
export function dbosHost(agent: Agent<unknown>, options: DbosHostOptions): DbosHost {
  checkArguments(agent, options);
  const workflows = new SessionWorkflows(agent, options);
  return {
    async post(id, input, post = {}) {
      return await workflows.post(id, checkedPost(id, input, post), post);
    },
    async stateOf(id) {
      checkId(id);
      return (await workflows.sessions.open(id)).current();
    },
    async waitFor(id, isReached) {
      checkId(id);
      checkIsReached(isReached);
      return await (await workflows.sessions.open(id)).waitFor(isReached);
    },
  };
}
