import { logCorrupt } from "../chain.ts";
import type { LogError } from "../log-error.ts";
import type { LogRecord } from "../port.ts";
import type { Files } from "./files.ts";
import { findEnd } from "./head-of-file.ts";
import type { Mark } from "./marks.ts";
import { scan } from "./scan.ts";
import { isTornTail } from "./torn-tail.ts";

/** What a file holds behind a mark. */
export interface Survey {
  /** Whole batches end here; the last one is the end of the log. */
  readonly marks: readonly Mark[];
  readonly end: Mark;
  /** The records between the mark and the end; empty where they were not read. */
  readonly records: readonly LogRecord[];
  /** The length of an unfinished append behind the end. */
  readonly unfinishedBytes: number;
  /** What is behind the end instead: something that no unfinished append leaves. */
  readonly damage: LogError | undefined;
}

/** Reads everything from a mark up to an offset of the file. */
export function surveyFrom(files: Files, fd: number, start: Mark, limit: number): Survey {
  const bytes = files.bytes(fd, start.offset, limit);
  const marks: Mark[] = [];
  const found = scan(bytes, start.head, (head, length) =>
    marks.push({ offset: start.offset + length, head }),
  );
  const leftBytes = bytes.length - found.length;
  const isTorn = leftBytes > 0 && isTornTail(bytes, start.offset, found, files.isDurable);
  return {
    marks,
    end: { offset: start.offset + found.length, head: found.head },
    records: found.records,
    unfinishedBytes: isTorn ? leftBytes : 0,
    damage: leftBytes === 0 || isTorn ? undefined : logCorrupt(found.bad?.seq ?? found.head.seq + 1),
  };
}

/** Finds the end of the log from the last lines of the file; reads the rest only if these are not whole. */
export function surveyEnd(files: Files, fd: number, start: Mark, limit: number): Survey {
  const found = findEnd(files, fd, start, limit);
  if (found === undefined) return surveyFrom(files, fd, start, limit);
  return { marks: found, end: found[1], records: [], unfinishedBytes: 0, damage: undefined };
}
