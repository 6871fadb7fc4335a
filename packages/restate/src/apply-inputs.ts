import {
  foldHeader,
  recordInputs,
  releaseInputs,
  type Agent,
  type AgentInput,
  type FoldedSession,
  type RecordedInputs,
} from "@moora/agent";
import { digestOf, type LogRecord } from "@moora/event-log";
import * as restate from "@restatedev/restate-sdk";
import { isTooLong, longestMessageBytes } from "./message-limits.ts";
import { checkedAppend, checkedHeader } from "./posted-inputs.ts";
import { refused } from "./queries.ts";
import { startAndStop } from "./running-effects.ts";
import type { SessionCache } from "./session-cache.ts";
import type { AppendResult, Posted, PostedResult } from "./session-messages.ts";
import { openSession, storeRecords, type Context, type OpenedSession } from "./stored-session.ts";

/** What the handlers of the object need besides their context. */
export interface SessionParts {
  readonly agent: Agent<unknown>;
  readonly cache: SessionCache;
}

/** Creates a session with a header and no record. Returns false if it exists. */
export async function create({ agent, cache }: SessionParts, ctx: Context, given: unknown): Promise<boolean> {
  const { text: header, release } = checkedHeader(agent, given);
  if ((await ctx.get("header")) !== null) return false;
  const session = foldHeader(header);
  const opened = { header, session, isNew: true, release, head: undefined };
  const { snapshot } = storeRecords(ctx, opened, { records: [], release });
  cache.keep(ctx.key, { header, session }, snapshot.bytes);
  return true;
}

/** Appends the records that a log has made for a session at a head. */
export async function append(parts: SessionParts, ctx: Context, appended: unknown): Promise<AppendResult> {
  const {
    append: { header, after, records },
    inputs,
  } = checkedAppend(appended);
  if (digestOf((await ctx.get("header")) ?? "") !== header) return { isRemoved: true };
  const opened = await openSession(parts.agent, ctx, parts.cache);
  const { seq } = opened.session.head;
  if (after.seq !== seq || after.digest !== opened.session.head.digest) return { isRemoved: false, seq };
  const now = await ctx.date.now();
  const release = inputsOfRelease(parts, opened, now);
  // The records were made for the session before it is brought to this release: its log makes others then.
  const made =
    release.length > 0
      ? { ...recordInputs(opened.session, release), ignored: [] }
      : recordEach(opened.session, inputs);
  if (release.length === 0 && made.head.digest !== records.at(-1)?.digest)
    return refused("The records are not those that a session of this agent makes.");
  await store(parts, ctx, { opened, made });
  return { isRemoved: false, seq: made.head.seq };
}

/** Applies inputs to the session, stores the records, and starts and stops effects. */
export async function apply(
  parts: SessionParts,
  ctx: Context,
  { inputs, after, from }: Posted,
): Promise<PostedResult> {
  const { agent, cache } = parts;
  // Asked for at the same time as the head: one wait less.
  const clock = ctx.date.now();
  const opened = await openSession(agent, ctx, cache);
  const now = await clock;
  const { session: before } = opened;
  if (after !== undefined && after !== before.head.seq) return {};
  const released = recordInputs(before, inputsOfRelease(parts, opened, now));
  const { records, ignored, state, head } = recordEach(released, inputs);
  const all = [...released.records, ...records];
  if (!opened.isNew && all.length === 0) return { applied: 0, ignored };
  await store(parts, ctx, { opened, made: { records: all, state, head }, from });
  return { applied: records.length, ignored };
}

/** The inputs that bring a session to the release of this process. */
const inputsOfRelease = (
  { agent }: SessionParts,
  { release, session: { state } }: OpenedSession,
  now: number,
): readonly AgentInput[] =>
  release === agent.version && state.dataStatus !== null ? [] : releaseInputs(agent, state, now);

interface Made {
  readonly opened: OpenedSession;
  readonly made: RecordedInputs;
  /** The key of the effect that reports them. */
  readonly from?: string | undefined;
}

/** Stores records, and starts and stops effects. */
async function store(
  { agent, cache }: SessionParts,
  ctx: Context,
  { opened, made, from }: Made,
): Promise<void> {
  const { records, state, head } = made;
  if (records.some(isTooLong)) {
    const message = `An input is longer than ${longestMessageBytes} bytes as a record.`;
    throw new restate.TerminalError(message, { errorCode: 413 });
  }
  const { header, session: before } = opened;
  const { snapshot, tailBytes } = storeRecords(ctx, opened, { records, release: agent.version });
  cache.keep(ctx.key, { header, session: { state, head } }, snapshot.bytes + tailBytes);
  await startAndStop(agent, ctx, { before: before.state, after: state, from });
}

interface RecordedEach extends RecordedInputs {
  /** The indexes of the inputs that changed nothing. */
  readonly ignored: readonly number[];
}

function recordEach(session: FoldedSession, inputs: readonly AgentInput[]): RecordedEach {
  let current = session;
  const [records, ignored]: [LogRecord[], number[]] = [[], []];
  for (const [index, input] of inputs.entries()) {
    const { records: added, state, head } = recordInputs(current, [input]);
    if (added.length === 0) ignored.push(index);
    records.push(...added);
    current = { state, head };
  }
  return { ...current, records, ignored };
}
