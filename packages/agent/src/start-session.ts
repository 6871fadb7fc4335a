import type { Clock, NeedsContext, Tool } from "@moora/agent-core-effects";
import { blobProblem, refuse } from "@moora/agent-core-effects/internal";
import { replay, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { checkIsAgent, checkIsState } from "./check-arguments.ts";
import { checkOptions, type OptionForms } from "./check-options.ts";
import { systemClock } from "./clock.ts";
import { dataInputs } from "./data-inputs.ts";
import { initialStateOf, type Agent } from "./define-agent.ts";
import type { ErrorListener } from "./error-reports.ts";
import type { LogListener } from "./logger.ts";
import type { OnApproval } from "./session/host-approvals.ts";
import { createSession, type SessionBase } from "./session/create-session.ts";
import { filesOf } from "./session/files-of.ts";
import type { BlobOptions } from "./session/session-files.ts";
import type { Session } from "./session/session.ts";
import { checkContext, type OptionsParameter } from "./session-context.ts";
import { joinedTeam, memberAt, notAMember } from "./team/member-at.ts";
import { randomId } from "./user-message.ts";

/** The options of `startSession`. */
export interface StartOptions {
  /**
   * The id of the session, a part of digests and idempotency keys: another session in memory with the same id has the same ones. Default: a
   * random id.
   */
  readonly id?: string;
  /**
   * The state to continue from, of the same agent. It is not copied, and must not be changed. Interrupted work in it resumes by the replay policy of its tool.
   * Default: the initial state of the agent.
   */
  readonly state?: AgentState;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /**
   * What the tools and handlers of the agent need of this process, such as a database connection: they read it as
   * `context.context`. Must be an object. Required for an agent that needs it (`defineContext`). Default: none.
   */
  readonly context?: unknown;
  /**
   * Stores the bytes of large files outside the state: of messages, of results of tools, and of what models make. Needs `store`.
   * Default: files stay in the state.
   */
  readonly blobs?: BlobOptions;
  /**
   * Answers questions at once. Default: questions wait for `decide`; `runTask` rejects them if no reader of events can
   * answer.
   */
  readonly onApproval?: OnApproval;
  /**
   * Receives the errors that no caller waits for, from the start on; `session.onError` adds more listeners. Default:
   * `console.error`.
   */
  readonly onError?: ErrorListener;
  /**
   * Receives log entries: what a caller does not see as an error, such as a retried append or a lost lease. Default: none; the
   * session logs nothing.
   */
  readonly onLog?: LogListener;
  /** Makes unique ids, each with the given prefix; for tests that need the same ids each time. Default: random ids. */
  readonly newId?: (prefix: string) => string;
}

/** The form of each option. */
export const startForms: OptionForms<StartOptions> = {
  id: "string",
  state: "object",
  clock: "clock",
  context: "any",
  blobs: "object",
  onApproval: "function",
  onError: "function",
  onLog: "function",
  newId: "function",
};

/**
 * Starts a session in memory. Every method applies its inputs before it returns; only model calls, tools and questions
 * take time. Throws `BuildError` for an invalid agent, for an unknown or invalid option, and without a `context` that the
 * agent needs.
 */
export function startSession<Answer, Data, Context = unknown, Tools extends Tool = Tool>(
  agent: Agent<Answer, Data, Tools> & NeedsContext<Context>,
  ...[given]: OptionsParameter<StartOptions, Context>
): Session<Answer, Data, Tools> {
  checkIsAgent("startSession", agent);
  const options: StartOptions = given ?? {};
  if ("log" in options) {
    refuse(
      "startSession keeps its session in memory. For one in a log: await openSession(agent, { log, id }).",
    );
  }
  checkOptions("startSession", options, startForms);
  checkContext("startSession", agent, options.context);
  const problem = blobProblem("startSession", options.blobs, undefined);
  if (problem !== undefined) refuse(problem);
  if (options.state !== undefined) checkIsState(options.state);
  const base = { ...baseOf(agent, "session", options), onApproval: options.onApproval };
  // The agent determines the types of the data and the tools.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return createSession(agent, base) as unknown as Session<Answer, Data, Tools>;
}

/** The base of a session in memory. */
export function baseOf(agent: Agent<unknown>, prefix: string, options: StartOptions): SessionBase {
  const { id = randomId(prefix), clock = systemClock, newId = randomId, onError, onLog, context } = options;
  const { state } = options;
  const initial = state === undefined ? initialStateOf(agent) : stateAfterOpening(agent, state, id, clock);
  const files = filesOf(options.blobs, undefined);
  return { id, initial, seq: 0, clock, context, files, newId, onError, onLog, runsEffects: true };
}

/**
 * The state after an opening by a new host: started work counts as interrupted, and the configuration and tools are
 * those of the given agent.
 */
function stateAfterOpening(
  agent: Agent<unknown>,
  state: AgentState,
  owner: string,
  clock: Clock,
): AgentState {
  const { activeAgent } = state;
  const member = memberAt(agent, state) ?? refuse(notAMember(agent, activeAgent ?? ""));
  const { config, tools } = member;
  const timestamp = clock.now();
  const opened: AgentInput = { type: "session-opened", owner, timestamp };
  const configured: AgentInput = {
    type: "agent-configured",
    config,
    tools,
    ...joinedTeam(agent, state),
    timestamp,
  };
  return replay([opened, configured, ...dataInputs(agent, state, timestamp)], state);
}
