import { foldHeader, newSessionHeader, type Agent, type FoldedSession } from "@moora/agent";
import { stateVersion } from "@moora/agent-core-state-machine/internal";
import type { ChainHead, LogRecord } from "@moora/event-log";
import type { ObjectContext, ObjectSharedContext } from "@restatedev/restate-sdk";
import { byteLength } from "./byte-length.ts";
import type { SessionWithHeader, SessionCache } from "./session-cache.ts";
import type { SnapshotWithRecords, View, ViewQuery } from "./session-messages.ts";

/** What an input reads and writes of a session besides its own records: the head, and what is known about the snapshot before it. */
export interface SessionHead extends ChainHead {
  /** The release of the agent whose configuration the session has. */
  readonly release: string;
  readonly snapshot: { readonly seq: number; readonly bytes: number; readonly stateVersion: number };
  /** The length of the records after the snapshot. */
  readonly tailBytes: number;
}

/** A session as a whole. Not a `FoldedSession`, so that an earlier release fails at it instead of continuing from it. */
interface StoredSnapshot {
  readonly snapshot: FoldedSession;
}

/**
 * What the object of a session stores, besides its records, which are stored as `log/1`, `log/2` and so on. The first layout has no
 * head: it stores the session as a whole at each input, and its release as `version`.
 */
interface ObjectState {
  header: string;
  head: SessionHead;
  session: StoredSnapshot | FoldedSession;
  version: string;
  /** The invocations of the effects that are under way, by their keys. */
  running: Record<string, string>;
}

/** Records are read and written by computed keys, which the type of the object cannot list. */
export type Context = ObjectContext<ObjectState & Record<`log/${number}`, LogRecord>>;
export type SharedContext = ObjectSharedContext<ObjectState & Record<`log/${number}`, LogRecord>>;

/** A session that an input is applied to. */
export interface OpenedSession extends SessionWithHeader {
  readonly isNew: boolean;
  readonly release: string;
  /** Undefined for a new session and for one in the first layout. */
  readonly head: SessionHead | undefined;
}

/** How long a read of a session by one of its own handlers may take. */
const longestReadMs = 30_000;

/** Aborts a read through the ingress when it takes too long, so that Restate repeats the attempt, and when that has ended. */
const readSignal = (ctx: SharedContext): AbortSignal =>
  AbortSignal.any([ctx.request().attemptCompletedSignal, AbortSignal.timeout(longestReadMs)]);

/** Reads a session. What it reads through its context does not depend on the cache, so that a run that is repeated elsewhere agrees. */
export async function openSession(
  agent: Agent<unknown>,
  ctx: Context,
  cache: SessionCache,
): Promise<OpenedSession> {
  const head = await ctx.get("head");
  if (head !== null) {
    const { header, session } = await cache.readAt(ctx.key, head, readSignal(ctx));
    return { header, session, isNew: false, release: head.release, head };
  }
  const whole = await readWholeSession(ctx);
  if (whole !== null) {
    const [header, release] = [(await ctx.get("header")) ?? "", (await ctx.get("version")) ?? ""];
    const session =
      whole.state.version === stateVersion
        ? whole
        : await cache.readFromHeader(ctx.key, { header, head: whole.head, signal: readSignal(ctx) });
    return { header, session, isNew: false, release, head: undefined };
  }
  const header = newSessionHeader(agent, ctx.rand.uuidv4());
  return { header, session: foldHeader(header), isNew: true, release: agent.version, head: undefined };
}

/** The least length of the records after a snapshot before the next one is stored. */
const shortTailBytes = 16_384;

/**
 * Stores the records of an input, and their head after them. The records between two snapshots are at least as long as the first of
 * these, so that all snapshots of one release but the last are together no longer than the records. A snapshot is that before the input, so that a
 * run of this input that is repeated still finds what leads to it. Returns the new head.
 */
export function storeRecords(
  ctx: Context,
  opened: OpenedSession,
  { records, release }: { readonly records: readonly LogRecord[]; readonly release: string },
): SessionHead {
  const { header, session, isNew, head } = opened;
  if (isNew) ctx.set("header", header);
  const isDue =
    head === undefined ||
    head.snapshot.stateVersion !== stateVersion ||
    head.tailBytes >= Math.max(shortTailBytes, head.snapshot.bytes);
  const snapshot = isDue
    ? {
        seq: session.head.seq,
        bytes: byteLength(JSON.stringify(session.state)),
        stateVersion: session.state.version,
      }
    : head.snapshot;
  if (isDue) ctx.set("session", { snapshot: session });
  for (const record of records) ctx.set(`log/${record.seq}`, record);
  const tailBytes =
    (isDue ? 0 : head.tailBytes) +
    records.reduce((sum, record) => sum + byteLength(JSON.stringify(record)), 0);
  const { seq, digest } = records.at(-1) ?? session.head;
  const next: SessionHead = { seq, digest, release, snapshot, tailBytes };
  // After the records: who reads a head finds all records before it.
  ctx.set("head", next);
  return next;
}

/** Reads a session for a caller who has its state at the head of the query, or who has nothing. */
export async function readView(
  ctx: SharedContext,
  cache: SessionCache,
  query: ViewQuery | null | undefined,
): Promise<View> {
  const reads = [ctx.get("header"), ctx.get("head")] as const;
  const [header, head] = [await reads[0], await reads[1]];
  if (header === null) return null;
  const after = query?.after ?? undefined;
  if (head !== null && after !== undefined) return await recordsAfter(ctx, head, after);
  const session =
    head === null
      ? await readWholeSession(ctx)
      : (await cache.readSince(ctx.key, head, readSignal(ctx))).session;
  // The snapshot before the first input is that of an input which is under way.
  if (session === null || (head === null && session.head.seq === 0)) return null;
  const { seq, digest } = session.head;
  return { header, state: session.state, seq, digest };
}

/** The records between two heads, if they are not more than what follows the snapshot. */
async function recordsAfter(
  ctx: SharedContext,
  head: SessionHead,
  after: ChainHead,
): Promise<{ readonly records?: readonly LogRecord[] }> {
  const isKnown = after.seq === head.seq && after.digest === head.digest;
  const isBefore = after.seq >= head.snapshot.seq && after.seq < head.seq;
  return isKnown || isBefore ? { records: await readRecords(ctx, after.seq, head.seq) } : {};
}

/** Reads a snapshot and the records after it. */
export async function readStoredSession(ctx: SharedContext): Promise<SnapshotWithRecords | null> {
  // The head comes last: the snapshot is not after it.
  const reads = [ctx.get("header"), ctx.get("session"), ctx.get("head")] as const;
  const [header, stored, head] = [await reads[0], await reads[1], await reads[2]];
  if (header === null || stored === null) return null;
  const snapshot = "snapshot" in stored ? stored.snapshot : stored;
  const { seq } = head ?? snapshot.head;
  return { header, snapshot, records: await readRecords(ctx, snapshot.head.seq, seq) };
}

/** Reads the records after `after`, up to `last`. */
export async function readRecords(
  ctx: SharedContext,
  after: number,
  last: number,
): Promise<readonly LogRecord[]> {
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

/** The sequence number of the last record of a session; 0 if it has received nothing. */
export async function readLastSeq(ctx: SharedContext): Promise<number> {
  return (await ctx.get("head"))?.seq ?? (await readWholeSession(ctx))?.head.seq ?? 0;
}

/** The session that the first layout stores, or the snapshot of one whose first input is under way. */
async function readWholeSession(ctx: SharedContext): Promise<FoldedSession | null> {
  const stored = await ctx.get("session");
  if (stored === null) return null;
  return "snapshot" in stored ? stored.snapshot : stored;
}
