import { shownValue } from "@moora/agent-core-effects/internal";
import {
  chainStart,
  checkedChain,
  digestOf,
  LogError,
  type EventLog,
  type LogRecord,
} from "@moora/event-log";
import { textToHeader } from "../durable/session-header.ts";
import { recordToInput } from "../durable/session-record.ts";
import { end, recordsUpTo, sessionLog } from "./read-session.ts";
import { writeSession } from "./write-session.ts";

/** The word that a portable session begins with. */
const mark = "moora/session/1";

/**
 * A session as one portable text: a line of JSON for its header, one for each record, and one that says where it ends and
 * seals all before it, so that a cut or changed file is noticed. Any log can import it; a test replays it. `seq` is the last
 * record that is exported; default: the last one of the session. Rejects with `LogCorrupt` for a position behind the first
 * damage: the records before it can be exported.
 */
export async function exportSession(log: EventLog, id: string, seq: number = end): Promise<string> {
  const session = await sessionLog(log, id);
  const inspection = await session.inspect();
  const records = inspection.records.slice(0, recordsUpTo(inspection, seq));
  const lines = [
    JSON.stringify({ mark, id, header: session.header }),
    ...records.map(({ seq: at, body, changesDigest, digest }) =>
      JSON.stringify({ seq: at, body, changesDigest, digest }),
    ),
  ];
  return `${lines.join("\n")}\n${sealOf(lines)}\n`;
}

const sealOf = (lines: readonly string[]): string =>
  JSON.stringify({ end: lines.length - 1, digest: digestOf(lines.join("\n")) });

/** A portable session, read and checked. */
export interface PortableSession {
  readonly id: string;
  readonly header: string;
  readonly records: readonly LogRecord[];
}

/**
 * Throws `LogCorrupt` for a text that is not an export, or was cut or changed, naming the first bad record where it can, and
 * `UnsupportedVersion` for a newer one.
 */
export function parsePortable(text: string): PortableSession {
  if (typeof text !== "string")
    throw new LogError("InvalidOption", `The exported session must be text, got ${shownValue(text)}.`);
  const lines = text.split("\n");
  if (lines.pop() !== "") throw cutOff(lines.length);
  const seal = lines.pop();
  const [first, ...rest] = lines.map(lineToObject);
  const { mark: found, id, header } = first ?? {};
  if (found !== mark || typeof id !== "string" || typeof header !== "string") {
    throw new LogError("LogCorrupt", "This is not a portable session, or its beginning is missing.", {
      seq: 0,
    });
  }
  const records = rest.map(objectToRecord);
  checkedChain(chainStart(header), records);
  if (seal !== sealOf(lines)) throw cutOff(records.length);
  textToHeader(header);
  for (const record of records) recordToInput(record);
  return { id, header, records };
}

const cutOff = (seq: number): LogError =>
  new LogError("LogCorrupt", "This session was cut off or changed: its last line does not seal it.", { seq });

/** Takes a portable session into a log, by its own id or another one. */
export async function importSession(
  log: EventLog,
  text: string,
  as?: string,
): Promise<{ id: string; seq: number }> {
  const { id, header, records } = parsePortable(text);
  await writeSession(log, as ?? id, header, records);
  return { id: as ?? id, seq: records.length };
}

type Line = Readonly<Record<string, unknown>>;

function lineToObject(line: string, index: number): Line {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return { ...value };
  } catch {
    // Reported below, with its place.
  }
  throw new LogError("LogCorrupt", `Line ${index + 1} of this session cannot be read.`, { seq: index });
}

function objectToRecord({ seq, body, changesDigest, digest }: Line, index: number): LogRecord {
  if (
    typeof seq === "number" &&
    typeof body === "string" &&
    typeof changesDigest === "string" &&
    typeof digest === "string"
  )
    return { seq, body, changesDigest, digest };
  throw new LogError("LogCorrupt", `Line ${index + 2} of this session is not a record.`, { seq: index + 1 });
}
