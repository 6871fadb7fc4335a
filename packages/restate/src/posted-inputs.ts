import {
  decisionProblem,
  decisionToInput,
  identityOf,
  InputRefused,
  textToHeader,
  type Agent,
  type AgentInput,
  type AgentState,
  type SessionHeader,
} from "@moora/agent";
import { callDigest } from "@moora/agent-core-effects/internal";
import { checkQuestion, parsePosted } from "@moora/agent/internal";
import { parseInput } from "@moora/agent-core-state-machine";
import { digestOf } from "@moora/event-log";
import { TerminalError } from "@restatedev/restate-sdk";
import { checkedHead, fieldsOf, refused } from "./queries.ts";
import type { Decided, Posted, SessionAppend } from "./session-messages.ts";

/** An input from outside. Rejects invalid ones, and those that only the services of the session may dispatch. */
function checkedInput(value: unknown): AgentInput {
  try {
    return parsePosted(value, "services");
  } catch (error) {
    if (error instanceof InputRefused && error.code === "not-allowed")
      throw new TerminalError(error.message, { errorCode: 403 });
    return refused(error instanceof Error ? error.message : String(error));
  }
}

function parsedInput(value: unknown): AgentInput {
  const parsed = parseInput(value);
  if (parsed.ok) return parsed.input;
  return refused(parsed.problem.message);
}

/** What a caller posts, with its inputs checked. Rejects what is not of this form: Restate would run the handler again forever. */
export const checkedPosted = (posted: unknown): Posted => checkedWith(posted, checkedInput);

/** What an effect reports, with its inputs checked. Rejects what is not of this form. */
export const checkedReport = (posted: unknown): Posted => checkedWith(posted, parsedInput);

/** What a log appends: the digest of the header and the head of its session, the inputs, and the digest of the last record. */
interface CheckedAppend extends Omit<SessionAppend, "records"> {
  readonly inputs: readonly AgentInput[];
  readonly digest: string;
}

/** What a log appends, with its inputs checked. Rejects what is not of this form. */
export function checkedAppend(append: unknown): CheckedAppend {
  const { header, after, records } = fieldsOf(append);
  if (typeof header !== "string") return refused("header must be a string.");
  if (!Array.isArray(records) || records.length === 0)
    return refused("records must be an array with records.");
  const inputs = records.map((record) => checkedInput(bodyOf(record)));
  const { digest } = fieldsOf(records.at(-1));
  if (typeof digest !== "string") return refused("A record must have a digest.");
  return { header, after: checkedHead(after), inputs, digest };
}

/** The input that a record contains. */
function bodyOf(record: unknown): unknown {
  const { body } = fieldsOf(record);
  if (typeof body !== "string") return refused("A record must have a body.");
  try {
    return JSON.parse(body);
  } catch {
    return refused("The body of a record must be JSON.");
  }
}

/** The header that a caller creates a session with. Rejects what is not the header of a session of this agent. */
export function checkedHeader(
  { name }: Pick<Agent<unknown>, "name">,
  given: unknown,
): { readonly text: string; readonly release: string } {
  const { header: text } = fieldsOf(given);
  if (typeof text !== "string") return refused("header must be a string.");
  try {
    const { agent } = textToHeader(text);
    if (agent.name === name) return { text, release: agent.version };
  } catch (error) {
    return refused(error instanceof Error ? error.message : String(error));
  }
  return refused(`The header must be that of a session of ${name}.`);
}

function checkedWith(posted: unknown, check: (input: unknown) => AgentInput): Posted {
  const { inputs, after, from, header } = fieldsOf(posted);
  if (!Array.isArray(inputs)) return refused("inputs must be an array.");
  if (after !== undefined && typeof after !== "number") return refused("after must be a number.");
  if (from !== undefined && typeof from !== "string") return refused("from must be a string.");
  if (header !== undefined && typeof header !== "string") return refused("header must be a string.");
  return {
    inputs: inputs.map((input) => check(input)),
    ...(after === undefined ? {} : { after }),
    ...(from === undefined ? {} : { from }),
    ...(header === undefined ? {} : { header }),
  };
}

interface DecidedSession {
  readonly id: string;
  readonly header: string;
  readonly state: AgentState;
  readonly timestamp: number;
}

/** Rejects what a caller without types may give instead of a question and a reviewer. */
function checkDecided({ question, by }: Readonly<Record<string, unknown>>): void {
  try {
    checkQuestion(question);
  } catch (error) {
    refused(error instanceof Error ? error.message : String(error));
  }
  if (typeof by !== "string") refused("by must be a string.");
}

/** The input of a decision. Rejects one that does not fit the question or the schema of the tool. */
export async function decidedInput(
  agent: Agent<unknown>,
  { id, header, state, timestamp }: DecidedSession,
  decided: Decided,
): Promise<AgentInput> {
  checkDecided(fieldsOf(decided));
  const { question, decision, by } = decided;
  const { toolCallId } = question;
  const problem = await decisionProblem(agent.parts, state, toolCallId, decision);
  if (problem !== undefined) refused(`${problem.path}: ${problem.message}`);
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
