import { isUtf8 } from "node:buffer";
import { type ChainHead, chainStart, follows, logCorrupt } from "../chain.ts";
import type { LogError } from "../log-error.ts";
import { lineToRecord, type RecordLine } from "./record-line.ts";
import { isTornTail } from "./torn-tail.ts";

const lineBreak = 10;

/** What the next line has to continue: a line, or the header of the file. */
type LineBefore = Pick<RecordLine, "at" | "of"> & { readonly record: ChainHead };

/** What a file contains after its header. */
export interface Content {
  /** The end of each line in the file, by the number of its record; that of the header is the first. */
  readonly ends: number[];
  head: ChainHead;
  /** The length in bytes of an unfinished append after the end. */
  unfinishedBytes: number;
  /** Damage after the end: bytes that are not the remains of an unfinished append. */
  damage: LogError | undefined;
}

/** The lines of a range of a file while each continues the one before, and the first that does not, if there is one. */
interface Lines {
  readonly lines: readonly RecordLine[];
  readonly badLine: { readonly start: number; readonly seq: number } | undefined;
}

export const headerLine = (header: string): LineBefore => ({ record: chainStart(header), at: 1, of: 1 });

/** The record of a line; undefined when a log did not write it. */
export const lineIn = (bytes: Buffer, start: number, end: number): RecordLine | undefined => {
  const line = bytes.subarray(start, end);
  return isUtf8(line) ? lineToRecord(line.toString("utf8")) : undefined;
};

const continues = (before: LineBefore, line: RecordLine): boolean =>
  (before.at === before.of ? line.at === 1 : line.at === before.at + 1 && line.of === before.of) &&
  follows(before.record, line.record);

export function linesAfter(before: LineBefore, bytes: Buffer): Lines {
  const lines: RecordLine[] = [];
  let last = before;
  for (let start = 0, end = bytes.indexOf(lineBreak); end >= 0; end = bytes.indexOf(lineBreak, start)) {
    const line = lineIn(bytes, start, end);
    if (line === undefined || !continues(last, line))
      return { lines, badLine: { start, seq: last.record.seq + 1 } };
    lines.push(line);
    last = line;
    start = end + 1;
  }
  return { lines, badLine: undefined };
}

/** Adds the ends of the lines of bytes that are at an offset in the file. */
export function addEnds(ends: number[], bytes: Buffer, offset: number): void {
  for (let end = bytes.indexOf(lineBreak); end >= 0; end = bytes.indexOf(lineBreak, end + 1))
    ends.push(offset + end + 1);
}

/** The length of a file whose chain is checked at once. */
const checkedBytes = 64 * 1024;

/**
 * The content of a file, whose header line has a length. The chain of a longer file that ends with a whole batch is not checked here, but
 * by those who read its records.
 */
export function contentOf(bytes: Buffer, header: string, headerLength: number, isDurable: boolean): Content {
  const rest = bytes.subarray(headerLength);
  const ends = [headerLength];
  addEnds(ends, rest, headerLength);
  // Records have no NUL, but what a power cut has left of them does.
  const isWhole = bytes.length > checkedBytes && ends.at(-1) === bytes.length && !bytes.includes(0);
  const head = isWhole ? headOf(bytes, ends, header) : undefined;
  if (head !== undefined) return { ends, head, unfinishedBytes: 0, damage: undefined };
  const { lines, badLine } = linesAfter(headerLine(header), rest);
  const whole = lines.slice(0, lines.findLastIndex(({ at, of }) => at === of) + 1);
  const end = whole.at(-1)?.record ?? chainStart(header);
  ends.length = whole.length + 1;
  const length = (ends.at(-1) ?? 0) - headerLength;
  const isTorn =
    length < rest.length && isTornTail(rest, { offset: headerLength, head: end, length, badLine, isDurable });
  return {
    ends,
    head: end,
    unfinishedBytes: isTorn ? rest.length - length : 0,
    damage: isTorn || length === rest.length ? undefined : logCorrupt(badLine?.seq ?? end.seq + 1),
  };
}

/** The head of a file whose last line ends a batch and continues the line before; undefined for any other one. */
function headOf(bytes: Buffer, ends: readonly number[], header: string): ChainHead | undefined {
  const lineOf = (seq: number): LineBefore | undefined =>
    seq === 0 ? headerLine(header) : lineIn(bytes, ends[seq - 1] ?? 0, (ends[seq] ?? 0) - 1);
  const seq = ends.length - 1;
  if (seq === 0) return chainStart(header);
  const before = lineOf(seq - 1);
  const last = lineIn(bytes, ends[seq - 1] ?? 0, (ends[seq] ?? 0) - 1);
  const isWhole =
    before !== undefined && last !== undefined && last.at === last.of && last.record.seq === seq;
  return isWhole && continues(before, last) ? last.record : undefined;
}
