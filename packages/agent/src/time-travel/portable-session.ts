import { shownValue } from "@moora/agent-core-effects/internal";
import { beginReplay, type Replay } from "@moora/agent-core-state-machine";
import {
  chainStart,
  checkedChain,
  digestOf,
  LogError,
  type EventLog,
  type LogRecord,
} from "@moora/event-log";
import { checkIsNotClosed } from "../durable/closed-session.ts";
import { finishInTurns, inTurns } from "../durable/in-turns.ts";
import { headerToState, identityOf, textToHeader } from "../durable/session-header.ts";
import { SessionError } from "../durable/session-error.ts";
import { recordToInput } from "../durable/session-record.ts";
import { checkHasSessionsOfCalls } from "../session-of-tool.ts";
import { appliedRecords } from "./applied-records.ts";
import { closingOfCopy, unschedulingInputs } from "./open-work.ts";
import { end, recordsUpTo, sessionLog } from "./read-session.ts";
import { writeSession } from "./write-session.ts";

/** The format and version at the beginning of a portable session. */
const format = "moora/session/1";

/**
 * Exports a session as a portable text for `importSession` and for tests: lines of JSON for its header, for each
 * record, and for a seal, the number of records and a digest by which truncated and changed files are detected. `seq`
 * is the last record that is exported; default: the last record of the session. Rejects with `SessionUnknown` for an
 * unknown session, with `MoveUnfinished` for a session that a move, a fork or an import has closed, or `SessionIncomplete` if that fork or
 * import was interrupted, with `LogCorrupt` for a position behind the
 * first damage, and with `InvalidOption` for a record that the session does not have.
 */
export async function exportSession(log: EventLog, id: string, seq: number = end): Promise<string> {
  const session = await sessionLog(log, id);
  await checkIsNotClosed(session);
  textToHeader(session.header);
  const sound = await session.inspect();
  const records = sound.records.slice(0, recordsUpTo(sound, seq));
  const lines = [headerToLine({ id, header: session.header })];
  await inTurns(records, (record) => void lines.push(recordToLine(record)));
  return linesToPortable(lines);
}

/** The portable text of a session with these records. */
export const recordsToPortable = (session: PortableSession): string =>
  linesToPortable([headerToLine(session), ...session.records.map(recordToLine)]);

const headerToLine = ({ id, header }: Pick<PortableSession, "id" | "header">): string =>
  JSON.stringify({ mark: format, id, header });

const recordToLine = ({ seq, body, changesDigest, digest }: LogRecord): string =>
  JSON.stringify({ seq, body, changesDigest, digest });

const linesToPortable = (lines: readonly string[]): string => `${lines.join("\n")}\n${sealOf(lines)}\n`;

const sealOf = (lines: readonly string[]): string =>
  JSON.stringify({ end: lines.length - 1, digest: digestOf(lines.join("\n")) });

/** The content of a portable session. */
export interface PortableSession {
  readonly id: string;
  readonly header: string;
  readonly records: readonly LogRecord[];
}

/**
 * Reads and checks a portable session. Throws `LogCorrupt`, with the first bad record if it is known, for a text that
 * is not an export or was truncated or changed, `UnsupportedVersion` for one of a newer release, and `InvalidOption`
 * for a value that is not a string.
 */
export function parsePortable(text: string): PortableSession {
  const steps = parseSteps(text);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** Yields after each part of the work. */
function* parseSteps(text: string): Generator<undefined, PortableSession> {
  if (typeof text !== "string")
    throw new LogError("InvalidOption", `The exported session must be a string, got ${shownValue(text)}.`);
  const lines = text.split("\n");
  if (lines.pop() !== "") throw truncationError(lines.length);
  const seal = lines.pop();
  const objects: Line[] = [];
  for (const line of lines) yield void objects.push(lineToObject(line, objects.length));
  const [first, ...rest] = objects;
  const { mark: found, id, header } = first ?? {};
  if (isOtherVersion(found)) {
    const message = `Unsupported export "${found}": this release reads "${format}". Use a newer one.`;
    throw new SessionError("UnsupportedVersion", message);
  }
  if (found !== format || typeof id !== "string" || typeof header !== "string") {
    throw new LogError("LogCorrupt", "This text is not an exported session, or its beginning is missing.", {
      seq: 0,
    });
  }
  const records = rest.map(objectToRecord);
  const isSealed = seal === sealOf(lines);
  // Before the chain, which is another one in another format. Without the seal, the header may be damaged.
  if (isSealed) textToHeader(header);
  let last = chainStart(header);
  for (const record of records) {
    checkedChain(last, [record]);
    yield void (last = record);
  }
  if (!isSealed) throw truncationError(records.length);
  for (const record of records) yield void recordToInput(record);
  return { id, header, records };
}

/** Whether the mark of a text is that of an export in another format. */
const isOtherVersion = (mark: unknown): mark is string =>
  typeof mark === "string" && /^moora\/session\/\d+$/.test(mark) && mark !== format;

const truncationError = (seq: number): LogError =>
  new LogError(
    "LogCorrupt",
    "This exported session was truncated or changed: its last line is not a valid seal.",
    { seq },
  );

/**
 * Creates a session in a log from a portable session, with its own id or `as`. Returns the id and the number of
 * records. Calls that were open may still run in the original, so that records at the end close some of them: one that was approved and has
 * not begun counts as not run, since the approval was for one run, and the outcome of one that has begun counts as unknown, unless its tool is `safe`, or `keyed`
 * and the id is its own: then its idempotency key is the same. Rejects with the errors of `parsePortable`, with `LogExists` if the log has a session of this id, and with
 * `InvalidOption` if the call of a sub-agent has begun and is open, and the log does not have its session: a text has none. A tool
 * that is `resumable` and has `spends` counts as a sub-agent.
 */
export async function importSession(
  log: EventLog,
  text: string,
  as?: string,
): Promise<{ id: string; seq: number }> {
  const session = await finishInTurns(parseSteps(text));
  const id = as ?? session.id;
  const { header } = session;
  const replay = await replayOf(session);
  const identity = identityOf(id, textToHeader(header));
  await checkHasSessionsOfCalls({ log, identity, state: replay.state() });
  const closing = await closingRecords(session, replay, id === session.id);
  const records = [...session.records, ...closing];
  await writeSession(log, id, header, records);
  return { id, seq: records.length };
}

/** The records that end the calls and the schedules which an imported session must not run. */
async function closingRecords(
  { header, records }: PortableSession,
  replay: Replay,
  hasSameKeys: boolean,
): Promise<readonly LogRecord[]> {
  // The text does not contain what the session has begun later.
  const copied = { begunLater: new Set<string>(), hasSameKeys, made: "imported" } as const;
  const state = replay.state();
  return await appliedRecords(replay, records.at(-1) ?? chainStart(header), [
    ...closingOfCopy(state, copied),
    ...unschedulingInputs(state, "import"),
  ]);
}

/**
 * Creates a session from a portable session also where a call of a sub-agent is open: for tests that read what was recorded. Returns
 * its id. Rejects with `LogError`.
 */
export async function importForReading(log: EventLog, text: string): Promise<string> {
  const { id, header, records } = await finishInTurns(parseSteps(text));
  await writeSession(log, id, header, records);
  return id;
}

/** The replay of all records. */
async function replayOf({ header, records }: PortableSession): Promise<Replay> {
  const replay = beginReplay(headerToState(textToHeader(header)), { changes: true });
  await inTurns(records, (record) => void replay.apply(recordToInput(record)));
  return replay;
}

type Line = Readonly<Record<string, unknown>>;

function lineToObject(line: string, index: number): Line {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return { ...value };
  } catch {
    // Thrown below, with the line number.
  }
  throw new LogError("LogCorrupt", `Line ${index + 1} of this exported session is not a JSON object.`, {
    seq: index,
  });
}

function objectToRecord({ seq, body, changesDigest, digest }: Line, index: number): LogRecord {
  if (
    typeof seq === "number" &&
    typeof body === "string" &&
    typeof changesDigest === "string" &&
    typeof digest === "string"
  )
    return { seq, body, changesDigest, digest };
  throw new LogError("LogCorrupt", `Line ${index + 2} of this exported session is not a record.`, {
    seq: index + 1,
  });
}
