import type { AgentInput, AgentState, Agent } from "@moora/agent";
import { checkIsReached } from "@moora/agent/internal";
import { checkArguments } from "./check-arguments.ts";
import { checkedPost, checkId } from "./check-post.ts";
import { SessionWorkflows } from "./session-workflows.ts";
import type { DbosHostOptions, DbosPostOptions } from "./dbos-options.ts";

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
