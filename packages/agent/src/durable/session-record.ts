import { rulesVersion, type AgentChange, type AgentInput } from "@moora/agent-core-state-machine";
import { parseStoredInput } from "@moora/agent-core-state-machine/internal";
import { recordAfter, digestOf, type ChainHead, type LogRecord } from "@moora/event-log";
import { textToJson } from "@moora/llm/internal";
import { isObject } from "../check-options.ts";
import { canonicalJson } from "./canonical-json.ts";
import { SessionError } from "./session-error.ts";

/** In characters, 66 bits: enough to detect that a replay had another result. The chain has digests of full length. */
const changesDigestLength = 11;

/**
 * What a record says of the changes of its input: the rules by which they were made, and a digest. Its cost depends on the size of the
 * changes, not of the state.
 */
export const digestOfChanges = (changes: readonly AgentChange[]): string =>
  `${rulesVersion}-${digestOf(canonicalJson(changes)).slice(0, changesDigestLength)}`;

/** The rules by which a record was written, in its `changesDigest`: 1 for a digest alone, as format 1 has it; undefined for another text. */
function rulesOf({ changesDigest }: Pick<LogRecord, "changesDigest">): number | undefined {
  const match = /^(?:(\d+)-)?[\w-]{11}$/.exec(changesDigest);
  return match === null ? undefined : Number(match[1] ?? 1);
}

/**
 * Whether an input changes the state now as it did when its record was written. `other-rules`: the record was written by other rules, so
 * that its input may change the state in another way.
 */
export function checkChanges(
  record: Pick<LogRecord, "changesDigest">,
  changes: readonly AgentChange[],
): "same" | "differs" | "other-rules" {
  const rules = rulesOf(record);
  if (rules !== undefined && rules !== rulesVersion) return "other-rules";
  return digestOfChanges(changes) === record.changesDigest ? "same" : "differs";
}

/** The record of an accepted input, chained to the head before it. `body` is the JSON text of the input, if it is known. */
export function inputToRecord(
  head: ChainHead,
  input: AgentInput,
  changes: readonly AgentChange[],
  body: string = JSON.stringify(input),
): LogRecord {
  return recordAfter(head, body, digestOfChanges(changes));
}

/** Functions that convert the bodies of an older version to a newer one. The field `v` of a body is its version (default: 1). */
type Upcasters = Readonly<
  Record<number, (body: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>>
>;

/** The version of bodies that this release writes, and the upcasters for older ones. */
const bodyVersions: { readonly current: number; readonly upcasters: Upcasters } = {
  current: 1,
  upcasters: {},
};

/** The input of a record. Throws `UnsupportedVersion` for a body that a newer release wrote. */
export const recordToInput = (record: Pick<LogRecord, "seq" | "body">): AgentInput =>
  upcastRecord(record, bodyVersions);

function upcastRecord(
  { seq, body }: Pick<LogRecord, "seq" | "body">,
  { current, upcasters }: typeof bodyVersions,
): AgentInput {
  let stored = fieldsOf(body, seq);
  for (let version = versionOf(stored); version !== current;) {
    const upcast = Object.hasOwn(upcasters, version) ? upcasters[version] : undefined;
    if (upcast === undefined) throw unsupported(seq, `version ${version}`);
    stored = upcast(stored);
    const next = versionOf(stored);
    if (next <= version) throw new Error(`The upcaster of version ${version} gives version ${next}.`);
    version = next;
  }
  const parsed = parseStoredInput(stored);
  if (parsed.ok) return parsed.input;
  throw unsupported(seq, `${parsed.problem.code} at ${parsed.problem.path}`);
}

function fieldsOf(body: string, seq: number): Readonly<Record<string, unknown>> {
  const value = textToJson(body);
  if (isObject(value)) return value;
  throw unsupported(seq, "not an object");
}

const versionOf = ({ v = 1 }: Readonly<Record<string, unknown>>): number => (typeof v === "number" ? v : 0);

const unsupported = (seq: number, what: string): SessionError =>
  new SessionError(
    "UnsupportedVersion",
    `Record ${seq} was written by a newer release and cannot be read: ${what}.`,
    {
      seq,
    },
  );
