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
import { checkQuestion } from "@moora/agent/internal";
import { inputTraits, parseInput } from "@moora/agent-core-state-machine";
import { digestOf } from "@moora/event-log";
import { TerminalError } from "@restatedev/restate-sdk";
import type { Decided, Posted } from "./session-messages.ts";

/** An input from outside. Rejects invalid ones, and those that only the services of the session may dispatch. */
function checkedInput(value: unknown): AgentInput {
  const input = parsedInput(value);
  const { type } = input;
  if (inputTraits[type].access !== "owner") return input;
  throw new TerminalError(`Only the services of the session may dispatch ${type}.`, { errorCode: 403 });
}

function parsedInput(value: unknown): AgentInput {
  const parsed = parseInput(value);
  if (parsed.ok) return parsed.input;
  throw new TerminalError(parsed.problem.message, { errorCode: 400 });
}

/** What a caller posts, with its inputs checked. Rejects what is not of this form: Restate would run the handler again forever. */
export function checkedPosted(posted: unknown): Posted {
  const { inputs, ...others }: Partial<Posted> = isFields(posted) ? posted : {};
  if (Array.isArray(inputs)) return { ...others, inputs: inputs.map(checkedInput) };
  throw new TerminalError("inputs must be an array.", { errorCode: 400 });
}

const isFields = (value: unknown): value is object => typeof value === "object" && value !== null;

interface DecidedSession {
  readonly id: string;
  readonly header: string;
  readonly state: AgentState;
  readonly timestamp: number;
}

/** Rejects what a caller without types may give instead of a question and a reviewer. */
function checkDecided({ question, by }: Partial<Decided>): void {
  try {
    checkQuestion(question);
  } catch (error) {
    throw new TerminalError(error instanceof Error ? error.message : String(error), { errorCode: 400 });
  }
  if (typeof by !== "string") throw new TerminalError("by must be a string.", { errorCode: 400 });
}

/** The input of a decision. Rejects one that does not fit the question or the schema of the tool. */
export async function decidedInput(
  agent: Agent<unknown>,
  { id, header, state, timestamp }: DecidedSession,
  decided: Decided,
): Promise<AgentInput> {
  checkDecided(isFields(decided) ? decided : {});
  const { question, decision, by } = decided;
  const { toolCallId } = question;
  const problem = await decisionProblem(agent.parts, state, toolCallId, decision);
  if (problem !== undefined)
    throw new TerminalError(`${problem.path}: ${problem.message}`, { errorCode: 400 });
  const name = state.toolCalls[toolCallId]?.name ?? "";
  const input = decisionToInput(question, decision, {
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
  // Texts of the caller may be such that no record can contain them.
  return parsedInput(input);
}

/** The id of a session in digests and idempotency keys. */
export function sessionIdOf(id: string, header: string): string {
  // The text is the header that the object of the session has written.
  const parsed: SessionHeader = JSON.parse(header);
  return identityOf(id, parsed);
}
