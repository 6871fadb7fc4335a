import { digestOf } from "../digest.ts";
import type { LogRecord } from "../port.ts";

/** A record as one line of the file tells it; `at` of `of` is its place in the batch that it was appended with. */
export interface RecordLine {
  readonly record: LogRecord;
  readonly at: number;
  readonly of: number;
}

const lead =
  /^\{"seq":([1-9]\d*),(?:"batch":"([1-9]\d*)\/([1-9]\d*):([\w-]{4})",)?"changed":("(?:[^"\\]|\\.)*"),"digest":"([\w-]{22})","(body|text)":/;

/** The longest lead: numbers, digest, and a `changed` of 200 characters, each escaped to six. */
const maxLeadLength = 1_400;

/** The lines of one batch. It is whole when its last line is: a torn batch is cut off as one. */
export function batchToLines(records: readonly LogRecord[]): string {
  let lines = "";
  for (const [index, record] of records.entries()) {
    lines += recordToLine({ record, at: index + 1, of: records.length });
  }
  return lines;
}

export function recordToLine({ record, at, of }: RecordLine): string {
  const { seq, body, changed, digest } = record;
  const batch = of === 1 ? "" : `"batch":"${at}/${of}:${batchCheck(digest, at, of)}",`;
  return `{"seq":${seq},${batch}"changed":${JSON.stringify(changed)},"digest":"${digest}",${textToMember("body", body)}}\n`;
}

/**
 * A member that holds a JSON text as it came. A text with a line break or NUL in it goes into the member `text` as a
 * string: so a line is a record, and NUL bytes in a file are always the trace of a power cut.
 */
export const textToMember = (name: string, text: string): string =>
  isPlain(text) ? `"${name}":${text}` : `"text":${JSON.stringify(text)}`;

/** Reads back the value of such a member; undefined when it was not written by `textToMember`. */
export function memberToText(isText: boolean, value: string): string | undefined {
  if (!isText) return isPlain(value) ? value : undefined;
  const text = unquoted(value);
  return text === undefined || isPlain(text) ? undefined : text;
}

/** The string that a JSON string stands for; undefined when `JSON.stringify` would have written it otherwise. */
export function unquoted(quoted: string): string | undefined {
  try {
    const text: unknown = JSON.parse(quoted);
    return typeof text === "string" && JSON.stringify(text) === quoted ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a line without its line break; undefined when it is not exactly what `batchToLines` writes. */
export function lineToRecord(line: string): RecordLine | undefined {
  const match = lead.exec(line.slice(0, maxLeadLength));
  if (match === null || !line.endsWith("}")) return undefined;
  const [whole, seq, at, of, check, quoted = "", digest = "", member] = match;
  const changed = unquoted(quoted);
  const body = memberToText(member === "text", line.slice(whole.length, -1));
  if (changed === undefined || body === undefined) return undefined;
  const place = { at: Number(at ?? 1), of: Number(of ?? 1) };
  if (check !== undefined && check !== batchCheck(digest, place.at, place.of)) return undefined;
  return { record: { seq: Number(seq), body, changed, digest }, ...place };
}

/** The chain does not cover the place in a batch: this does, so that damage to it is found in its own line. */
const batchCheck = (digest: string, at: number, of: number): string =>
  digestOf(digest, `${at}/${of}`).slice(0, 4);

const isPlain = (text: string): boolean => !text.includes("\n") && !text.includes("\0");
