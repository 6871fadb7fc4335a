import {
  decisionProblem,
  decisionToInput,
  identityOf,
  type Agent,
  type AgentInput,
  type AgentState,
  type SessionHeader,
} from "@moora/agent";
import { callDigest } from "@moora/agent-core-effects/internal";
import { inputTraits, parseInput } from "@moora/agent-core-state-machine";
import { digestOf } from "@moora/event-log";
import { TerminalError } from "@restatedev/restate-sdk";
import type { Decided } from "./session-messages.ts";

/** An input from outside. Rejects invalid ones, and those that only the services of the session may dispatch. */
export function checkedInput(value: unknown): AgentInput {
  const parsed = parseInput(value);
  if (!parsed.ok) throw new TerminalError(parsed.problem.message, { errorCode: 400 });
  const { type } = parsed.input;
  if (inputTraits[type].access !== "owner") return parsed.input;
  throw new TerminalError(`Only the services of the session may dispatch ${type}.`, { errorCode: 403 });
}

interface DecidedSession {
  readonly id: string;
  readonly header: string;
  readonly state: AgentState;
  readonly timestamp: number;
}

/** The input of a decision. Rejects one that does not fit the question or the schema of the tool. */
export async function decidedInput(
  agent: Agent<unknown>,
  { id, header, state, timestamp }: DecidedSession,
  { question, decision, by }: Decided,
): Promise<AgentInput> {
  const { toolCallId } = question;
  const problem = await decisionProblem(agent.parts, state, toolCallId, decision);
  if (problem !== undefined)
    throw new TerminalError(`${problem.path}: ${problem.message}`, { errorCode: 400 });
  const name = state.toolCalls[toolCallId]?.name ?? "";
  return decisionToInput(question, decision, {
    by,
    timestamp,
    digestOfChange: (parameters) =>
      callDigest(
        state,
        { sessionId: sessionIdOf(id, header), digestOf },
        { id: toolCallId, name, parameters },
      ),
    maxResultLength: agent.runLimits.maxResultLength,
  });
}

/** The id of a session in digests and idempotency keys. */
export function sessionIdOf(id: string, header: string): string {
  // The text is the header that the object of the session has written.
  const parsed: SessionHeader = JSON.parse(header);
  return identityOf(id, parsed);
}
