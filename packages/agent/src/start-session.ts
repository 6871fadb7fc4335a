import type { Clock } from "@moora/agent-core-effects";
import { replay, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { checkIsAgent, checkIsState } from "./check-arguments.ts";
import { checkOptions, type OptionForms } from "./check-options.ts";
import { systemClock } from "./clock.ts";
import { initialStateOf, type Agent } from "./define-agent.ts";
import type { ErrorListener } from "./error-reports.ts";
import type { OnApproval } from "./session/host-approvals.ts";
import { createSession, type SessionBase } from "./session/create-session.ts";
import type { Session } from "./session/session.ts";
import { randomId } from "./user-message.ts";

export interface StartOptions {
  /** Default: a new random id. */
  readonly id?: string;
  /** A state to continue from, of the same agent. What was broken off in it is resumed by the policy of its tool. */
  readonly state?: AgentState;
  readonly clock?: Clock;
  /** Answers questions at once; without it they wait for `decide`. */
  readonly onApproval?: OnApproval;
  /** Hears the errors that no caller waits for, from the start on; `session.onError` adds more listeners. */
  readonly onError?: ErrorListener;
  /** Makes ids of messages unique; for tests that want them to be the same each time. */
  readonly newId?: (prefix: string) => string;
}

/** The form of each option. */
export const startForms: OptionForms<StartOptions> = {
  id: "string",
  state: "object",
  clock: "clock",
  onApproval: "function",
  onError: "function",
  newId: "function",
};

/** A session in memory. Every method has its effect before it returns; only what the world does takes time. Throws `BuildError` for what is not an agent and for an unknown option. */
export function startSession<Answer>(agent: Agent<Answer>, options: StartOptions = {}): Session<Answer> {
  checkIsAgent("startSession", agent);
  checkOptions("startSession", options, startForms);
  if (options.state !== undefined) checkIsState(options.state);
  return createSession(agent, { ...baseOf(agent, "session", options), onApproval: options.onApproval });
}

/** What a session in memory is made on. */
export function baseOf(agent: Agent<unknown>, prefix: string, options: StartOptions): SessionBase {
  const { id = randomId(prefix), clock = systemClock, newId = randomId, onError } = options;
  const initial =
    options.state === undefined ? initialStateOf(agent) : resumed(agent, options.state, id, clock);
  return { id, initial, seq: 0, clock, newId, onError, runsEffects: true };
}

/** The state as a new host finds it: what had started is interrupted, and the agent is the one that it has now. */
function resumed(
  { config, tools }: Agent<unknown>,
  state: AgentState,
  owner: string,
  clock: Clock,
): AgentState {
  const timestamp = clock.now();
  const opened: AgentInput = { type: "session-opened", owner, timestamp };
  return replay([opened, { type: "agent-configured", config, tools, timestamp }], state);
}
