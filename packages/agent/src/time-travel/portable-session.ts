import { chainStart, checkedChain, LogError, type EventLog, type LogRecord } from "@moora/event-log";
import { textToHeader } from "../durable/session-header.ts";
import { recordToInput } from "../durable/session-record.ts";
import { sessionLog } from "./read-session.ts";

/** The word that a portable session begins with. */
const mark = "moora/session/1";

/**
 * A whole session as one portable text: a line of JSON for its header, one for each record, and one that says where it
 * ends, so that a cut file is noticed. Any log takes it in again; a test replays it as it is.
 */
export async function exportSession(log: EventLog, id: string): Promise<string> {
  const session = await sessionLog(log, id);
  const records = await session.read();
  const lines = [
    JSON.stringify({ mark, id, header: session.header }),
    ...records.map(({ seq, body, changed, digest }) => JSON.stringify({ seq, body, changed, digest })),
    JSON.stringify({
      end: records.length,
      digest: records.at(-1)?.digest ?? chainStart(session.header).digest,
    }),
  ];
  return `${lines.join("\n")}\n`;
}

/** A portable session, read and checked. */
export interface PortableSession {
  readonly id: string;
  readonly header: string;
  readonly records: readonly LogRecord[];
}

/** Throws `LogCorrupt` for a text that is none, was cut or was changed, and `UnsupportedVersion` for a newer one. */
export function parsePortable(text: string): PortableSession {
  const lines = text.split("\n").filter((line) => line !== "");
  const [first, ...rest] = lines.map(lineToObject);
  const last = rest.pop();
  if (first?.["mark"] !== mark || typeof first["id"] !== "string" || typeof first["header"] !== "string")
    throw new LogError("LogCorrupt", "This is no session of Moora's, or not from its beginning.", { seq: 0 });
  if (last?.["end"] !== rest.length)
    throw new LogError("LogCorrupt", "This session was cut off: it does not say where it ends.", {
      seq: rest.length,
    });
  const records = rest.map(objectToRecord);
  checkedChain(chainStart(first["header"]), records);
  textToHeader(first["header"]);
  for (const record of records) recordToInput(record);
  return { id: first["id"], header: first["header"], records };
}

/** Takes a portable session into a log, by its own id or another one. */
export async function importSession(
  log: EventLog,
  text: string,
  as?: string,
): Promise<{ id: string; seq: number }> {
  const { id, header, records } = parsePortable(text);
  const session = await log.create(as ?? id, header);
  await session.append(0, records);
  return { id: as ?? id, seq: records.length };
}

type Line = Readonly<Record<string, unknown>>;

function lineToObject(line: string, index: number): Line {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return { ...value };
  } catch {
    // Told below, with its place.
  }
  throw new LogError("LogCorrupt", `Line ${index + 1} of this session cannot be read.`, { seq: index });
}

function objectToRecord({ seq, body, changed, digest }: Line, index: number): LogRecord {
  if (
    typeof seq === "number" &&
    typeof body === "string" &&
    typeof changed === "string" &&
    typeof digest === "string"
  )
    return { seq, body, changed, digest };
  throw new LogError("LogCorrupt", `Line ${index + 2} of this session is no record.`, { seq: index + 1 });
}
