import { parseInput, type AgentChange, type AgentInput } from "@moora/agent-core-state-machine";
import { chained, digestOf, type ChainHead, type LogRecord } from "@moora/event-log";
import { canonicalJson } from "./canonical-json.ts";
import { SessionError } from "./session-error.ts";

/** The digest of what an input changed. Costs the change, not the state. */
export const changesDigest = (changes: readonly AgentChange[]): string => digestOf(canonicalJson(changes));

/** The record of an accepted input, chained to the head before it. */
export function inputToRecord(
  head: ChainHead,
  input: AgentInput,
  changes: readonly AgentChange[],
): LogRecord {
  const body = JSON.stringify(input);
  const changed = changesDigest(changes);
  return { seq: head.seq + 1, body, changed, digest: chained(head.digest, body, changed) };
}

/** One row for each older version of a record's body: what makes it one of the next. A body without `v` is of version 1. */
const upcasters: Readonly<
  Record<number, (body: Readonly<Record<string, unknown>>) => Record<string, unknown>>
> = {};

/** The version of bodies that this release writes. */
const bodyVersion = 1;

/** The input of a record. Throws `UnsupportedVersion` for a body that a newer release wrote. */
export function recordToInput({ seq, body }: Pick<LogRecord, "seq" | "body">): AgentInput {
  let stored = fieldsOf(body, seq);
  for (let version = versionOf(stored); version !== bodyVersion; version = versionOf(stored)) {
    const upcast = Object.hasOwn(upcasters, version) ? upcasters[version] : undefined;
    if (upcast === undefined) throw unsupported(seq, `version ${version}`);
    stored = upcast(stored);
  }
  const parsed = parseInput(stored);
  if (parsed.ok) return parsed.input;
  throw unsupported(seq, `${parsed.problem.code} at ${parsed.problem.path}`);
}

function fieldsOf(body: string, seq: number): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(body);
  if (typeof value === "object" && value !== null) return Object.fromEntries(Object.entries(value));
  throw unsupported(seq, "no object");
}

const versionOf = ({ v = 1 }: Readonly<Record<string, unknown>>): number => (typeof v === "number" ? v : 0);

const unsupported = (seq: number, what: string): SessionError =>
  new SessionError("UnsupportedVersion", `Record ${seq} is none that this release can read: ${what}.`, {
    seq,
  });
