import { foldHeader, newSessionHeader, type Agent, type FoldedSession } from "@moora/agent";
import { rulesVersion } from "@moora/agent-core-state-machine";
import { stateVersion } from "@moora/agent-core-state-machine/internal";
import type { ChainHead, LogRecord } from "@moora/event-log";
import { TerminalError, type ObjectContext, type ObjectSharedContext } from "@restatedev/restate-sdk";
import { byteLength, partLength } from "./message-limits.ts";
import type { SessionWithHeader, SessionCache } from "./session-cache.ts";

/** What an input reads and writes of a session besides its own records: the head, and what is known about the snapshot before it. */
export interface SessionHead extends ChainHead {
  /** The release of the agent whose configuration the session has. */
  readonly release: string;
  readonly snapshot: SnapshotAbout;
  /** The length of the records after the snapshot. */
  readonly tailBytes: number;
}

/** A snapshot: its `FoldedSession` as JSON, in parts that messages can contain. Without parts, the session before its first record. */
export interface SnapshotAbout {
  readonly seq: number;
  readonly bytes: number;
  readonly parts: number;
  readonly stateVersion: number;
  readonly rules: number;
}

/** What the object of a session stores, besides its records, `log/1`, `log/2` and so on, and the parts of its snapshot, `session/SEQ/0` and so on. */
interface ObjectState {
  header: string;
  head: SessionHead;
  /** What an earlier release stored in place of the head. */
  session: unknown;
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
  /** Undefined for a new session. */
  readonly head: SessionHead | undefined;
}

/** Which session an id has, and how far it is. */
type StoredAbout = Pick<ObjectState, "header" | "head">;

/** How long each call of a read of a session by one of its own handlers may take. */
const longestReadMs = 30_000;

/** Reads a session. What it reads through its context does not depend on the cache, so that a run that is repeated elsewhere agrees. */
export async function openSession(
  agent: Agent<unknown>,
  ctx: Context,
  cache: SessionCache,
): Promise<OpenedSession> {
  const head = await ctx.get("head");
  if (head === null) {
    if ((await ctx.get("header")) !== null) throw ofOldLayout(ctx.key);
    const header = newSessionHeader(agent, ctx.rand.uuidv4());
    return { header, session: foldHeader(header), head: undefined };
  }
  // A call that takes too long is aborted, so that Restate repeats the attempt.
  const signal = (): AbortSignal =>
    AbortSignal.any([ctx.request().attemptCompletedSignal, AbortSignal.timeout(longestReadMs)]);
  return { ...(await cache.readAt(ctx.key, head, signal)), head };
}

/** Reads the header and the head of a session for a handler that changes nothing; null if there is none. */
export async function readStored(ctx: SharedContext): Promise<StoredAbout | null> {
  const reads = [ctx.get("header"), ctx.get("head")] as const;
  const [header, head] = [await reads[0], await reads[1]];
  if (header === null) return null;
  if (head !== null) return { header, head };
  // Without a head it may be that its first input is being stored, or that it is being removed.
  if ((await ctx.get("session")) !== null) throw ofOldLayout(ctx.key);
  return null;
}

/** Such a session would be lost if the next input began it anew. Repetitions, also of reports and timers, would block its object forever. */
const ofOldLayout = (id: string): TerminalError =>
  new TerminalError(
    `The session ${id} has no key "head": an earlier release stored it. Copy it with toLog of that release, and import it here.`,
    { errorCode: 409 },
  );

/** Whether this release has folded a snapshot, or would fold the same. */
export const isOfRelease = (snapshot: SnapshotAbout): boolean =>
  snapshot.stateVersion === stateVersion && snapshot.rules === rulesVersion;

const noSnapshot: SnapshotAbout = { seq: 0, bytes: 0, parts: 0, stateVersion, rules: rulesVersion };

/** The least length of the records after a snapshot before the next one is stored. */
const shortTailBytes = 16_384;

/**
 * Stores the records of an input, and their head after them. The records between two snapshots are at least as long as the first of
 * these, so that all snapshots of one release but the last are together no longer than the records. A snapshot is that before the input, so that a
 * run of this input that is repeated still finds what leads to it. Returns the new head.
 */
export function storeRecords(
  ctx: Context,
  { header, session, head }: OpenedSession,
  { records, release }: { readonly records: readonly LogRecord[]; readonly release: string },
): SessionHead {
  if (head === undefined) ctx.set("header", header);
  const { snapshot: before, tailBytes: bytesBefore } = head ?? { snapshot: noSnapshot, tailBytes: 0 };
  const isDue = !isOfRelease(before) || bytesBefore >= Math.max(shortTailBytes, before.bytes);
  const snapshot = isDue ? storeSnapshot(ctx, session) : before;
  for (const record of records) ctx.set(`log/${record.seq}`, record);
  const tailBytes = records.reduce(
    (sum, record) => sum + byteLength(JSON.stringify(record)),
    isDue ? 0 : bytesBefore,
  );
  const { seq, digest } = records.at(-1) ?? session.head;
  const next: SessionHead = { seq, digest, release, snapshot, tailBytes };
  // After the records and the parts of the snapshot: who reads a head finds what leads to it.
  ctx.set("head", next);
  if (isDue)
    for (let index = 0; index < before.parts; index += 1) ctx.clear(`session/${before.seq}/${index}`);
  return next;
}

/** Stores a snapshot in parts. */
function storeSnapshot(ctx: Context, { state, head }: FoldedSession): SnapshotAbout {
  const { seq } = head;
  // A run that is repeated stores the same bytes, however the session was read.
  const session: FoldedSession = { state, head, rules: rulesVersion };
  const text = JSON.stringify(session);
  const parts = Math.ceil(text.length / partLength);
  for (let index = 0; index < parts; index += 1)
    ctx.set(`session/${seq}/${index}`, text.slice(index * partLength, (index + 1) * partLength));
  return { seq, bytes: byteLength(text), parts, stateVersion, rules: rulesVersion };
}
