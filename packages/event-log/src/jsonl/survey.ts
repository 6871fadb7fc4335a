import { logCorrupt } from "../chain.ts";
import type { LogError } from "../log-error.ts";
import type { LogRecord } from "../port.ts";
import type { Files } from "./files.ts";
import { findLogEnd } from "./header-and-end.ts";
import type { Offset } from "./offset-index.ts";
import { scan } from "./scan.ts";
import { isTornTail } from "./torn-tail.ts";

/** The content of a file after an offset. */
export interface Survey {
  /** The ends of complete batches; the last one is the end of the log. */
  readonly offsets: readonly Offset[];
  readonly end: Offset;
  /** The records between the offset and the end; empty if they were not read. */
  readonly records: readonly LogRecord[];
  /** The length in bytes of an unfinished append after the end. */
  readonly unfinishedBytes: number;
  /** Damage after the end: bytes that are not the remains of an unfinished append. */
  readonly damage: LogError | undefined;
}

/** Reads everything from an offset up to the byte `limit` of the file. */
export function surveyFrom(files: Files, fd: number, start: Offset, limit: number): Survey {
  const bytes = files.bytes(fd, start.offset, limit);
  const offsets: Offset[] = [];
  const found = scan(bytes, start.head, (head, length) =>
    offsets.push({ offset: start.offset + length, head }),
  );
  const leftBytes = bytes.length - found.length;
  const isTorn = leftBytes > 0 && isTornTail(bytes, start.offset, found, files.isDurable);
  return {
    offsets,
    end: { offset: start.offset + found.length, head: found.head },
    records: found.records,
    unfinishedBytes: isTorn ? leftBytes : 0,
    damage: leftBytes === 0 || isTorn ? undefined : logCorrupt(found.badLine?.seq ?? found.head.seq + 1),
  };
}

/** Finds the end of the log from the last lines of the file; reads everything only if these are not complete. */
export function surveyEnd(files: Files, fd: number, start: Offset, limit: number): Survey {
  const found = findLogEnd(files, fd, start, limit);
  if (found === undefined) return surveyFrom(files, fd, start, limit);
  return { offsets: found, end: found[1], records: [], unfinishedBytes: 0, damage: undefined };
}
