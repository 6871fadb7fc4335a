import {
  identityOf,
  InputRefused,
  textToHeader,
  type Agent,
  type AgentInput,
  type AgentState,
  type SessionHeader,
} from "@moora/agent";
import { errorText } from "@moora/agent-core-effects/internal";
import { decidedInput, parseOrRefuse, parsePosted } from "@moora/agent/internal";
import type { ChainHead } from "@moora/event-log";
import { TerminalError } from "@restatedev/restate-sdk";
import { idForm } from "./options.ts";
import type {
  Decided,
  Posted,
  RecordsQuery,
  Report,
  SessionAppend,
  SessionDeadline,
  SnapshotPart,
  ViewQuery,
} from "./session-messages.ts";

/*
 * What the callers of the handlers of a session pass. Each of these rejects what is not of its form: Restate would run the handler again
 * forever.
 */

/** Rejects a call, which Restate then does not repeat. */
export function refused(message: string, errorCode = 400): never {
  throw new TerminalError(message, { errorCode });
}

/** Makes what a caller passes, and rejects the call if that throws. */
function orRefused<Value>(make: () => Value): Value {
  try {
    return make();
  } catch (error) {
    return refusedFor(error);
  }
}

function refusedFor(error: unknown): never {
  if (error instanceof TerminalError) throw error;
  const isForbidden = error instanceof InputRefused && error.code === "not-allowed";
  return refused(errorText(error), isForbidden ? 403 : 400);
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a value of a caller; none of one that is not an object. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? { ...value } : {};

function text(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? value : refused(`${name} must be a string.`);
}

function count(fields: Fields, name: string): number {
  const value = fields[name];
  const isCount = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  return isCount ? value : refused(`${name} must be an integer from 0.`);
}

/** A time, in milliseconds, or a part of one: a provider may ask for a wait of 812.5. */
function time(fields: Fields, name: string): number {
  const value = fields[name];
  const isTime = typeof value === "number" && Number.isFinite(value) && value >= 0;
  return isTime ? value : refused(`${name} must be a number from 0.`);
}

function list<Item>(fields: Fields, name: string, toItem: (value: unknown) => Item): readonly Item[] {
  const value = fields[name];
  if (!Array.isArray(value)) return refused(`${name} must be an array.`);
  return value.map((item) => orRefused(() => toItem(item)));
}

function head(value: unknown): ChainHead {
  const fields = fieldsOf(value);
  return { seq: count(fields, "seq"), digest: text(fields, "digest") };
}

/** Rejects the key of an object that is not the id of a session: `restateSession` could not read it. */
export function checkId(key: string): void {
  if (!idForm.fits(key)) refused(`The id of a session must be ${idForm.expectation}.`);
}

/** What a caller of `view` has of the session; null if that is nothing. */
export function checkedView(query: unknown): ViewQuery | null {
  const fields = fieldsOf(query);
  if (fields["after"] === undefined) return null;
  return { header: text(fields, "header"), after: head(fields["after"]) };
}

export function checkedRecordsQuery(query: unknown): RecordsQuery {
  const fields = fieldsOf(query);
  return { after: count(fields, "after"), limit: count(fields, "limit") };
}

export function checkedPart(query: unknown): SnapshotPart {
  const fields = fieldsOf(query);
  return { at: count(fields, "at"), index: count(fields, "index") };
}

export function checkedDeadline(deadline: unknown): SessionDeadline {
  const fields = fieldsOf(deadline);
  return { key: text(fields, "key"), due: time(fields, "due"), header: text(fields, "header") };
}

/** What a caller posts. Rejects invalid inputs, and, with 403, those that only the services of the session may dispatch. */
export const checkedPosted = (posted: unknown): Posted => ({
  inputs: list(fieldsOf(posted), "inputs", (input) => parsePosted(input, "services")),
});

/** What an effect reports. */
export function checkedReport(report: unknown): Report {
  const fields = fieldsOf(report);
  const inputs = list(fields, "inputs", parseOrRefuse);
  const reported = { inputs, from: text(fields, "from"), header: text(fields, "header") };
  return fields["after"] === undefined ? reported : { ...reported, after: count(fields, "after") };
}

/** What a log appends, with the inputs of its records, and the digest of the last one. */
interface CheckedAppend extends Omit<SessionAppend, "records"> {
  readonly inputs: readonly AgentInput[];
  readonly digest: string;
}

export function checkedAppend(append: unknown): CheckedAppend {
  const fields = fieldsOf(append);
  const records = list(fields, "records", fieldsOf);
  return {
    header: text(fields, "header"),
    after: head(fields["after"]),
    inputs: records.map((record) =>
      orRefused(() => parsePosted(JSON.parse(text(record, "body")), "services")),
    ),
    digest: text(fieldsOf(records.at(-1)), "digest"),
  };
}

/** The header that a caller creates a session with, and its release. Rejects that of a session of another agent. */
export function checkedHeader(
  { name }: Pick<Agent<unknown>, "name">,
  given: unknown,
): { readonly header: string; readonly release: string } {
  const header = text(fieldsOf(given), "header");
  const { agent } = orRefused(() => textToHeader(header));
  if (agent.name !== name) return refused(`The header must be that of a session of ${name}.`);
  return { header, release: agent.version };
}

interface DecidedSession {
  readonly id: string;
  readonly header: string;
  readonly state: AgentState;
  readonly timestamp: number;
}

/** The input of a decision. Rejects one that does not fit the question or the schema of the tool. */
export async function checkedDecision(
  agent: Agent<unknown>,
  { id, header, state, timestamp }: DecidedSession,
  { question, decision, by }: Decided,
): Promise<AgentInput> {
  const about = { question, decision, by: text({ by }, "by"), sessionId: sessionIdOf(id, header), timestamp };
  return await decidedInput(agent, () => state, about).catch(refusedFor);
}

/** The id of a session in digests and idempotency keys. */
export function sessionIdOf(id: string, header: string): string {
  // The text is the header that the object of the session has written.
  const parsed: SessionHeader = JSON.parse(header);
  return identityOf(id, parsed);
}
