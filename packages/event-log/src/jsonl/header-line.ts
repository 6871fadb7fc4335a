import { digestOf } from "../digest.ts";
import { LogError } from "../log-error.ts";
import { memberToText, textToMember, unquote } from "./record-line.ts";

/** The first line of a file: the id, its generation, and the header. */
export interface HeaderLine {
  readonly id: string;
  readonly generation: string;
  /** Undefined for a file that an earlier release has left of a removed session. */
  readonly header: string | undefined;
}

const format = 1;

export const headerToLine = ({ id, generation, header }: HeaderLine & { readonly header: string }): string =>
  sealLine(
    `{"format":${format},"generation":"${generation}","id":${JSON.stringify(id)},${textToMember("header", header)}`,
  );

/** Ends a line with the digest of the text before it. This part is the same in every format. */
export const sealLine = (line: string): string => `${line},"digest":"${digestOf(line)}"}\n`;

const seal = /^,"digest":"([\w-]{22})"\}$/;
const sealLength = 35;
const members =
  /^\{"format":(\d+),"(generation|removed)":"([\w-]{22})","id":("(?:[^"\\]|\\.)*")(?:,"(header|text)":)?/;
/** The members before the header, with an id of 200 characters that are each escaped to six. */
const maxLeadLength = 1_400;

/** Parses the first line. Throws `LogCorrupt` (`seq` 0) if it is damaged, `UnsupportedVersion` if its format is newer. */
export function lineToHeader(line: string): HeaderLine {
  const sealStart = line.length - sealLength;
  const digest = seal.exec(line.slice(Math.max(0, sealStart)))?.[1];
  if (digest === undefined || digest !== digestOf(line.slice(0, sealStart))) throw damagedHeader();
  const version = /^\{"format":(\d+),/.exec(line)?.[1];
  if (version === undefined) throw damagedHeader();
  if (version !== String(format)) {
    throw new LogError(
      "UnsupportedVersion",
      `Unsupported log format ${version}; this release reads ${format}. Update Moora.`,
    );
  }
  const match = members.exec(line.slice(0, maxLeadLength));
  const [lead = "", , kind, generation = "", quoted = "", member] = match ?? [];
  const id = unquote(quoted);
  if (id === undefined) throw damagedHeader();
  if (kind === "removed") return { id, generation, header: undefined };
  const header = memberToText(member === "text", line.slice(lead.length, sealStart));
  if (member === undefined || header === undefined) throw damagedHeader();
  return { id, generation, header };
}

export const damagedHeader = (problem = "Its first line is damaged."): LogError =>
  new LogError("LogCorrupt", `The log is damaged. ${problem}`, { seq: 0 });
