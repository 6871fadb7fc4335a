import { foldHeader, newSessionHeader, type Agent, type FoldedSession } from "@moora/agent";
import { rulesVersion } from "@moora/agent-core-state-machine";
import { stateVersion } from "@moora/agent-core-state-machine/internal";
import { isFoldedHere } from "@moora/agent/internal";
import type { ChainHead, LogRecord } from "@moora/event-log";
import type { ObjectContext, ObjectSharedContext } from "@restatedev/restate-sdk";
import { byteLength } from "./byte-length.ts";
import type { SessionWithHeader, SessionCache } from "./session-cache.ts";
import { partsOf } from "./snapshot-parts.ts";

/** What an input reads and writes of a session besides its own records: the head, and what is known about the snapshot before it. */
export interface SessionHead extends ChainHead {
  /** The release of the agent whose configuration the session has. */
  readonly release: string;
  readonly snapshot: SnapshotAbout;
  /** The length of the records after the snapshot. */
  readonly tailBytes: number;
}

interface SnapshotAbout {
  readonly seq: number;
  readonly bytes: number;
  readonly stateVersion: number;
  /** The rules by which its state was folded; undefined in one of an earlier release. */
  readonly rules?: number;
  /** The number of its parts; undefined for one that is stored as a whole. */
  readonly parts?: number;
}

/** A session as a whole. Not a `FoldedSession`, so that an earlier release fails at it instead of continuing from it. */
interface StoredSnapshot {
  readonly snapshot: FoldedSession;
}

/** A session whose JSON is stored in parts, as `session/SEQ/0`, `session/SEQ/1` and so on. */
interface StoredParts {
  readonly parts: number;
  readonly seq: number;
}

/**
 * What the object of a session stores, besides its records, which are stored as `log/1`, `log/2` and so on. The first layout has no
 * head: it stores the session as a whole at each input, and its release as `version`.
 */
interface ObjectState {
  header: string;
  head: SessionHead;
  session: StoredSnapshot | StoredParts | FoldedSession;
  version: string;
  /** The invocations of the effects that are under way, by their keys. */
  running: Record<string, string>;
}

/** Records and parts are read and written by computed keys, which the type of the object cannot list. */
type StoredState = ObjectState &
  Record<`log/${number}`, LogRecord> &
  Record<`session/${number}/${number}`, string>;
export type Context = ObjectContext<StoredState>;
export type SharedContext = ObjectSharedContext<StoredState>;

/** A session that an input is applied to. */
export interface OpenedSession extends SessionWithHeader {
  readonly isNew: boolean;
  readonly release: string;
  /** Undefined for a new session and for one in the first layout. */
  readonly head: SessionHead | undefined;
}

/** How long each call of a read of a session by one of its own handlers may take. */
const longestReadMs = 30_000;

/** Aborts a call through the ingress when it takes too long, so that Restate repeats the attempt, and when that has ended. */
export const readSignal = (ctx: SharedContext) => (): AbortSignal =>
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
    const session = isFoldedHere(whole)
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
    head.snapshot.rules !== rulesVersion ||
    head.tailBytes >= Math.max(shortTailBytes, head.snapshot.bytes);
  const snapshot = isDue ? storeSnapshot(ctx, session, head?.snapshot) : head.snapshot;
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

/** Stores a snapshot, a long one in parts, and removes the parts of the one before. */
function storeSnapshot(
  ctx: Context,
  { state, head }: FoldedSession,
  before: SnapshotAbout | undefined,
): SnapshotAbout {
  const { seq } = head;
  // A run that is repeated stores the same bytes, however the session was read.
  const session: FoldedSession = { state, head, rules: rulesVersion };
  const texts = partsOf(session);
  const bytes = texts.reduce((sum, text) => sum + byteLength(text), 0);
  const about = { seq, bytes, stateVersion: session.state.version, rules: rulesVersion };
  const parts = texts.length;
  if (parts > 1) {
    for (const [index, text] of texts.entries()) ctx.set(`session/${seq}/${index}`, text);
    ctx.set("session", { parts, seq });
  } else ctx.set("session", { snapshot: session });
  // After the new one: who reads a snapshot finds all of its parts, or a later snapshot.
  for (let index = 0; index < (before?.parts ?? 0); index += 1)
    ctx.clear(`session/${before?.seq ?? 0}/${index}`);
  return parts > 1 ? { ...about, parts } : about;
}

/** The sequence number of the last record of a session; 0 if it has received nothing. */
export async function readLastSeq(ctx: SharedContext): Promise<number> {
  return (await ctx.get("head"))?.seq ?? (await readWholeSession(ctx))?.head.seq ?? 0;
}

/** The session that the first layout stores, or the snapshot of one whose first input is under way. */
export async function readWholeSession(ctx: SharedContext): Promise<FoldedSession | null> {
  const stored = await ctx.get("session");
  if (stored === null) return null;
  if (!("parts" in stored)) return snapshotIn(stored);
  let text = "";
  for (let index = 0; index < stored.parts; index += 1)
    text += (await ctx.get(`session/${stored.seq}/${index}`)) ?? "";
  return JSON.parse(text);
}

/** The session that is stored as a whole, in this layout or in the first one. */
export const snapshotIn = (stored: StoredSnapshot | FoldedSession): FoldedSession =>
  "snapshot" in stored ? stored.snapshot : stored;
