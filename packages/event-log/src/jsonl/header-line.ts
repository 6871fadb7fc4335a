import { digestOf } from "../digest.ts";
import { LogError } from "../log-error.ts";
import { memberToText, textToMember, unquoted } from "./record-line.ts";

/** The first line of a file: whose log it is, which life of the id, its header; or that it was removed. */
export interface HeaderLine {
  readonly id: string;
  readonly life: string;
  /** Undefined for a tombstone. */
  readonly header: string | undefined;
}

const format = 1;

/** What the file of a living session begins with, ASCII only: enough to see that it is still the same one. */
export const lifeMark = (life: string): string => `{"format":${format},"life":"${life}",`;

export function headerToLine({ id, life, header }: HeaderLine): string {
  const line =
    header === undefined
      ? `{"format":${format},"removed":"${life}","id":${JSON.stringify(id)}`
      : `${lifeMark(life)}"id":${JSON.stringify(id)},${textToMember("header", header)}`;
  return sealed(line);
}

/** Closes a line with the digest of all that stands before it: the one thing that every format keeps. */
export const sealed = (line: string): string => `${line},"digest":"${digestOf(line)}"}\n`;

const seal = /^,"digest":"([\w-]{22})"\}$/;
const sealLength = 35;
const members =
  /^\{"format":(\d+),"(life|removed)":"([\w-]{22})","id":("(?:[^"\\]|\\.)*")(?:,"(header|text)":)?/;
/** An id of 200 characters, each escaped to six, and what stands before it. */
const maxLeadLength = 1_400;

/** Reads the first line. `LogCorrupt` (of record 0) if it is damaged, `UnsupportedVersion` if a newer Moora wrote it. */
export function lineToHeader(line: string): HeaderLine {
  const sealStart = line.length - sealLength;
  const digest = seal.exec(line.slice(Math.max(0, sealStart)))?.[1];
  if (digest === undefined || digest !== digestOf(line.slice(0, sealStart))) throw damagedHeader();
  const version = /^\{"format":(\d+),/.exec(line)?.[1];
  if (version === undefined) throw damagedHeader();
  if (version !== String(format)) {
    throw new LogError(
      "UnsupportedVersion",
      `Unsupported log format ${version}; this Moora reads ${format}.`,
    );
  }
  const match = members.exec(line.slice(0, maxLeadLength));
  const [lead = "", , kind, life = "", quoted = "", member] = match ?? [];
  const id = unquoted(quoted);
  if (id === undefined) throw damagedHeader();
  if (kind === "removed") return { id, life, header: undefined };
  const header = memberToText(member === "text", line.slice(lead.length, sealStart));
  if (member === undefined || header === undefined) throw damagedHeader();
  return { id, life, header };
}

export const damagedHeader = (problem = "Its first line is damaged."): LogError =>
  new LogError("LogCorrupt", `The log is damaged. ${problem}`, { seq: 0 });
