import type { ChainHead, LogRecord } from "@moora/event-log";
import { byteLength } from "./byte-length.ts";
import { pageBytes } from "./message-limits.ts";
import type { SessionCache } from "./session-cache.ts";
import type { RecordsPage, SnapshotPart, StoredSession, View, ViewedRecords } from "./session-messages.ts";
import { partsOf } from "./snapshot-parts.ts";
import {
  readSignal,
  readWholeSession,
  snapshotIn,
  type SessionHead,
  type SharedContext,
} from "./stored-session.ts";

/** Reads a session for a caller who has its state at `after`, or who has nothing. */
export async function readView(
  ctx: SharedContext,
  cache: SessionCache,
  after: ChainHead | undefined,
): Promise<View> {
  const reads = [ctx.get("header"), ctx.get("head")] as const;
  const [header, head] = [await reads[0], await reads[1]];
  if (header === null) return null;
  if (head !== null && after !== undefined) return await recordsAfter(ctx, head, after);
  if (head !== null && head.snapshot.bytes + head.tailBytes > pageBytes) return {};
  const session =
    head === null
      ? await readWholeSession(ctx)
      : (await cache.readSince(ctx.key, head, readSignal(ctx))).session;
  // The snapshot before the first input is that of an input which is under way.
  if (session === null || (head === null && session.head.seq === 0)) return null;
  const { state, rules } = session;
  const { seq, digest } = session.head;
  return byteLength(JSON.stringify(state)) > pageBytes ? {} : { header, state, seq, digest, rules };
}

/** The first records between two heads, if there are not more of them than what follows the snapshot. */
async function recordsAfter(ctx: SharedContext, head: SessionHead, after: ChainHead): Promise<ViewedRecords> {
  const { seq } = head;
  const isKnown = after.seq === seq && after.digest === head.digest;
  const isBefore = after.seq >= head.snapshot.seq && after.seq < seq;
  return isKnown || isBefore ? { records: await readTail(ctx, head, after.seq), seq } : {};
}

/** Reads a snapshot and the first records after it, or how many parts a long snapshot has. */
export async function readStoredSession(ctx: SharedContext): Promise<StoredSession | null> {
  // The head comes last: the snapshot is not after it.
  const reads = [ctx.get("header"), ctx.get("session"), ctx.get("head")] as const;
  const [header, stored, head] = [await reads[0], await reads[1], await reads[2]];
  if (header === null || stored === null) return null;
  if ("parts" in stored) return { header, parts: stored.parts, at: stored.seq, seq: head?.seq ?? stored.seq };
  const snapshot = snapshotIn(stored);
  const { seq } = head ?? snapshot.head;
  const parts = partsOf(snapshot).length;
  if (parts > 1) return { header, parts, at: snapshot.head.seq, seq };
  const records = head === null ? [] : await readTail(ctx, head, snapshot.head.seq);
  return { header, snapshot, records, seq };
}

/** Reads a part of the snapshot at `at`; null if it has been replaced. Earlier releases stored long ones as a whole. */
export async function readPart(ctx: SharedContext, { at, index }: SnapshotPart): Promise<string | null> {
  const part = await ctx.get(`session/${at}/${index}`);
  if (part !== null) return part;
  const stored = await ctx.get("session");
  if (stored === null || "parts" in stored) return null;
  const snapshot = snapshotIn(stored);
  return snapshot.head.seq === at ? (partsOf(snapshot)[index] ?? null) : null;
}

/** Reads the records after `after`, up to `last`: as many as a page can contain, and at least one. */
export async function readPage(ctx: SharedContext, after: number, last: number): Promise<RecordsPage> {
  const { records, next } = await readFitting(ctx, { after, last, atOnce: firstReads });
  return records.length > 0 || next === undefined ? records : [next];
}

/** Reads the first records of the tail after `after`: as many as a page can contain. */
async function readTail(ctx: SharedContext, head: SessionHead, after: number): Promise<RecordsPage> {
  const last = head.seq;
  const atOnce = head.tailBytes > pageBytes ? firstReads : Math.max(1, last - after);
  return (await readFitting(ctx, { after, last, atOnce })).records;
}

/** How many records of unknown length are read at the same time at first. */
const firstReads = 4;

interface Range {
  readonly after: number;
  readonly last: number;
  readonly atOnce: number;
}

/**
 * Reads records in growing groups, so that what is read is not much longer than what fits. `next`: the first record that does not
 * fit; undefined if all do.
 */
async function readFitting(
  ctx: SharedContext,
  { after, last, atOnce }: Range,
): Promise<{ readonly records: RecordsPage; readonly next?: LogRecord }> {
  const records: LogRecord[] = [];
  let [bytes, count, seq] = [0, atOnce, after];
  while (seq < last) {
    const group = await readRecords(ctx, seq, Math.min(last, seq + count));
    for (const record of group) {
      bytes += byteLength(JSON.stringify(record));
      if (bytes > pageBytes) return { records, next: record };
      records.push(record);
    }
    seq = Math.min(last, seq + count);
    const average = bytes / Math.max(1, records.length);
    count = Math.max(1, Math.min(2 * count, Math.floor((pageBytes - bytes) / Math.max(1, average))));
  }
  return { records };
}

/** Reads the records after `after`, up to `last`. */
async function readRecords(ctx: SharedContext, after: number, last: number): Promise<RecordsPage> {
  const reads = Array.from({ length: Math.max(0, last - after) }, (_, index) =>
    ctx.get(`log/${after + index + 1}`),
  );
  const records: LogRecord[] = [];
  for (const read of reads) {
    const record = await read;
    if (record !== null) records.push(record);
  }
  return records;
}
