import { textToHeader, type LogRecord, type SessionHeader } from "@moora/agent";

/** A text that the inspector cannot open, with what to do about it. */
export class UnreadableSession extends Error {
  override readonly name = "UnreadableSession";
}

/** An exported session that is read part by part. A damaged record does not end it: the history marks it. */
export interface ExportReader {
  readonly id: string;
  /** The JSON text of the header, as the log has it. */
  readonly headerText: string;
  readonly header: SessionHeader;
  /** The number of lines after the first one: the records, and the seal. */
  readonly lines: number;
  /** The next records, at most `most`; empty at the end. */
  next(most: number): readonly LogRecord[];
  /** Why the text ends before its seal, or was changed; undefined for a complete export. Known after the last record. */
  problem(): string | undefined;
}

const mark = "moora/session/1";

/** Opens the text of an exported session. Throws `UnreadableSession` if it is not one. */
export function readExport(text: string): ExportReader {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const first = lineToFields(lines[0] ?? "");
  const { id, header: headerText } = first;
  if (first["mark"] !== mark || typeof id !== "string" || typeof headerText !== "string")
    throw new UnreadableSession(problemOfFirstLine(first));
  return { id, headerText, header: headerOf(headerText), lines: lines.length - 1, ...recordsOf(lines) };
}

function headerOf(text: string): SessionHeader {
  try {
    return textToHeader(text);
  } catch (error) {
    throw new UnreadableSession(error instanceof Error ? error.message : String(error));
  }
}

function recordsOf(lines: readonly string[]): Pick<ExportReader, "next" | "problem"> {
  let at = 1;
  let seal: number | undefined;
  let problem: string | undefined;
  const take = (): LogRecord | undefined => {
    const line = lines[at];
    if (line === undefined || seal !== undefined || problem !== undefined) return undefined;
    const fields = lineToFields(line);
    if (typeof fields["end"] === "number") seal = fields["end"];
    else {
      const record = fieldsToRecord(fields);
      if (record === undefined)
        problem = `Line ${at + 1} is not a record: the records from here on are missing.`;
      else at += 1;
      return record;
    }
    return undefined;
  };
  return {
    next(most) {
      const records: LogRecord[] = [];
      while (records.length < most) {
        const record = take();
        if (record === undefined) break;
        records.push(record);
      }
      return records;
    },
    problem() {
      if (problem !== undefined) return problem;
      if (seal === undefined) return "The file has no seal at its end: it was truncated.";
      return seal === at - 1
        ? undefined
        : `The seal of the file names ${seal} records, and the file has ${at - 1}.`;
    },
  };
}

function problemOfFirstLine(first: Readonly<Record<string, unknown>>): string {
  if (typeof first["generation"] === "string")
    return 'This is the file of a log. Export a session from it: "moora export SESSION FILE --log FOLDER".';
  if (typeof first["mark"] === "string")
    return `This export has the format ${first["mark"]}; this inspector reads ${mark}.`;
  return 'This is not an exported session. Make one: "moora export SESSION FILE".';
}

function lineToFields(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function fieldsToRecord({
  seq,
  body,
  changesDigest,
  digest,
}: Readonly<Record<string, unknown>>): LogRecord | undefined {
  if (typeof seq !== "number" || typeof body !== "string") return undefined;
  if (typeof changesDigest !== "string" || typeof digest !== "string") return undefined;
  return { seq, body, changesDigest, digest };
}
