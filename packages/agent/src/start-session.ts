import type { Clock } from "@moora/agent-core-effects";
import type { AgentState } from "@moora/agent-core-state-machine";
import { systemClock } from "./clock.ts";
import { initialStateOf, type Agent } from "./define-agent.ts";
import type { OnApproval } from "./session/asking.ts";
import { createSession } from "./session/create-session.ts";
import type { Session } from "./session/session.ts";
import { randomId } from "./user-message.ts";

export interface StartOptions {
  /** Default: a new random id. */
  readonly id?: string;
  /** A state to go on from, of the same agent. */
  readonly state?: AgentState;
  readonly clock?: Clock;
  /** Answers questions at once; without it they wait for `decide`. */
  readonly onApproval?: OnApproval;
  /** Makes ids of messages unique; for tests that want them to be the same each time. */
  readonly newId?: (prefix: string) => string;
}

/** A session in memory. Every method has its effect before it returns; only what the world does takes time. */
export function startSession<Answer>(agent: Agent<Answer>, options: StartOptions = {}): Session<Answer> {
  return createSession(agent, {
    id: options.id ?? randomId("session"),
    initial: options.state ?? initialStateOf(agent),
    seq: 0,
    clock: options.clock ?? systemClock,
    newId: options.newId ?? randomId,
    runsEffects: true,
    onApproval: options.onApproval,
  });
}
