import { maxRecordLength, type ChainHead, type LogRecord, type MaybePromise } from "@moora/event-log";
import { andThen } from "@moora/event-log/store";
import type { PendingStep } from "../session/machine.ts";
import type { LogHandle } from "./log-handle.ts";
import { inputToRecord } from "./session-record.ts";

/** The maximum length of one append to a log, in characters. */
export const longestAppend = ({ log }: LogHandle): number => log.maxRecordLength ?? maxRecordLength;

/** An accepted input and its transition. */
export type AcceptedInput = Pick<PendingStep, "input" | "after">;

/** The records of steps, each chained to the one before it. */
export function stepsToRecords(head: ChainHead, steps: readonly AcceptedInput[]): readonly LogRecord[] {
  const records: LogRecord[] = [];
  let last = head;
  for (const { input: pending, after } of steps) {
    const record = inputToRecord(last, pending.input, after.changes, pending.body);
    records.push(record);
    last = record;
  }
  return records;
}

/** Splits records into parts, each short enough for one append, and of at most `most` records. */
export function splitIntoAppends(
  records: readonly LogRecord[],
  longest: number,
  most: number = Infinity,
): readonly (readonly LogRecord[])[] {
  const parts: LogRecord[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const record of records) {
    length += record.body.length;
    if (length > longest || parts.at(-1)?.length === most) {
      parts.push([]);
      length = record.body.length;
    }
    parts.at(-1)?.push(record);
  }
  return parts;
}

/** Appends parts one after the other. A promise only if the log returns one. */
export function appendInTurn(
  handle: LogHandle,
  [part, ...later]: readonly (readonly LogRecord[])[],
): MaybePromise<void> {
  const [first] = part ?? [];
  if (part === undefined || first === undefined) return undefined;
  const appended = handle.log.append(first.seq - 1, part);
  return later.length === 0 ? appended : andThen(appended, () => appendInTurn(handle, later));
}
