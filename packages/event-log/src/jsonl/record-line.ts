import { crc32 } from "node:zlib";
import type { LogRecord } from "../port.ts";

/** A record in one line of the file. It is number `at` of the `of` records of its batch. */
export interface RecordLine {
  readonly record: LogRecord;
  readonly at: number;
  readonly of: number;
}

const lead =
  /^\{"seq":([1-9]\d*),(?:"batch":"([1-9]\d*)\/([1-9]\d*):([0-9a-z]+)",)?"changesDigest":("(?:[^"\\]|\\.)*"),"digest":"([\w-]{22})","(body|text)":/;

/** The members before the body, with a `changesDigest` of 200 characters that are each escaped to six. */
const maxLeadLength = 1_400;

/** The lines of one batch. A batch is complete when its last line is; an incomplete batch is truncated as a whole. */
export function batchToLines(records: readonly LogRecord[]): string {
  let lines = "";
  for (const [index, record] of records.entries())
    lines += recordToLine({ record, at: index + 1, of: records.length });

  return lines;
}

export function recordToLine({ record, at, of }: RecordLine): string {
  const { seq, body, changesDigest, digest } = record;
  const batch = of === 1 ? "" : `"batch":"${at}/${of}:${batchCheck(digest, at, of)}",`;
  return `{"seq":${seq},${batch}"changesDigest":${JSON.stringify(changesDigest)},"digest":"${digest}",${textToMember("body", body)}}\n`;
}

/**
 * A member whose value is a JSON text, unchanged. A text that contains a line break or NUL becomes the string member `text`
 * instead: so each line is a record, and NUL bytes in a file are always the trace of a power cut.
 */
export const textToMember = (name: string, text: string): string =>
  isPlain(text) ? `"${name}":${text}` : `"text":${JSON.stringify(text)}`;

/** Reads the value of such a member; undefined when `textToMember` did not write it. */
export function memberToText(isText: boolean, value: string): string | undefined {
  if (!isText) return isPlain(value) ? value : undefined;
  const text = unquote(value);
  return text === undefined || isPlain(text) ? undefined : text;
}

/** JSON strings without characters that could be escaped, such as digests. */
const plainQuoted = /^"[\w-]*"$/;

/** Parses a JSON string; undefined when it is not exactly what `JSON.stringify` writes. */
export function unquote(quoted: string): string | undefined {
  if (plainQuoted.test(quoted)) return quoted.slice(1, -1);
  try {
    const text: unknown = JSON.parse(quoted);
    return typeof text === "string" && JSON.stringify(text) === quoted ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Parses a line without its line break; undefined when it is not exactly what `batchToLines` writes. */
export function lineToRecord(line: string): RecordLine | undefined {
  const match = lead.exec(line.slice(0, maxLeadLength));
  if (match === null || !line.endsWith("}")) return undefined;
  const [whole, seq, at, of, check, quoted = "", digest = "", member] = match;
  const changesDigest = unquote(quoted);
  const body = memberToText(member === "text", line.slice(whole.length, -1));
  if (changesDigest === undefined || body === undefined) return undefined;
  const position = { at: Number(at ?? 1), of: Number(of ?? 1) };
  if (check !== undefined && check !== batchCheck(digest, position.at, position.of)) return undefined;
  return { record: { seq: Number(seq), body, changesDigest, digest }, ...position };
}

/** A check of the position in the batch, which the chain does not cover, so that damage to it is found in its own line. */
const batchCheck = (digest: string, at: number, of: number): string =>
  crc32(`${digest} ${at}/${of}`).toString(36);

const isPlain = (text: string): boolean => !text.includes("\n") && !text.includes("\0");
