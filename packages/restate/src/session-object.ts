import {
  recordInputs,
  releaseInputs,
  type Agent,
  type AgentInput,
  type FoldedSession,
  type RecordedInputs,
} from "@moora/agent";
import type { LogRecord } from "@moora/event-log";
import * as restate from "@restatedev/restate-sdk";
import { checkedPosted, decidedInput } from "./posted-inputs.ts";
import { retentionOptions, serviceNames, type RestateOptions } from "./options.ts";
import { startAndStop } from "./running-effects.ts";
import type { SessionCache } from "./session-cache.ts";
import type {
  Decided,
  Posted,
  PostedResult,
  RecordsPage,
  RecordsQuery,
  SnapshotWithRecords,
  View,
  ViewQuery,
} from "./session-messages.ts";
import {
  readLastSeq,
  openSession,
  readRecords,
  readStoredSession,
  storeRecords,
  readView,
  type Context,
  type SharedContext,
} from "./stored-session.ts";

/**
 * The handlers of the object of a session: `post` and `decide` for callers, `report` for effects, `expire` for timers. `view`,
 * `stored` and `records` read.
 */
export interface SessionHandlers {
  post(ctx: Context, posted: Posted): Promise<PostedResult>;
  decide(ctx: Context, decided: Decided): Promise<PostedResult>;
  report(ctx: Context, posted: Posted): Promise<PostedResult>;
  expire(ctx: Context, effect: { readonly key: string; readonly due: number }): Promise<void>;
  view(ctx: SharedContext, query?: ViewQuery | null): Promise<View>;
  stored(ctx: SharedContext): Promise<SnapshotWithRecords | null>;
  records(ctx: SharedContext, query: RecordsQuery): Promise<RecordsPage>;
}

export type SessionObject = restate.VirtualObjectDefinition<string, SessionHandlers>;

/** What the handlers of the object need besides their context. */
interface SessionParts {
  readonly agent: Agent<unknown>;
  readonly cache: SessionCache;
}

/** The virtual object that folds the inputs of a session, one at a time, and starts the effects that its state wants. */
export function sessionObject(parts: SessionParts, options: RestateOptions): SessionObject {
  const { agent, cache } = parts;
  const { session: name } = serviceNames(agent.name);
  // The journal of a read has what was read: it is of no use when the read has ended.
  const read = retentionOptions(0);
  return restate.object({
    name,
    options: { enableLazyState: true, ...retentionOptions(options.retentionMs) },
    handlers: {
      post: async (ctx: Context, posted: Posted) => {
        return await apply(parts, ctx, checkedPosted(posted));
      },
      decide: async (ctx: Context, decided: Decided) => {
        const { header, session } = await openSession(agent, ctx, cache);
        const timestamp = await ctx.date.now();
        const about = { id: ctx.key, header, state: session.state, timestamp };
        return await apply(parts, ctx, { inputs: [await decidedInput(agent, about, decided)] });
      },
      report: async (ctx: Context, posted: Posted) => await apply(parts, ctx, posted),
      expire: async (ctx: Context, { key, due }: { readonly key: string; readonly due: number }) => {
        await apply(parts, ctx, { inputs: [{ type: "deadline-passed", key, timestamp: due }], from: key });
      },
      view: restate.handlers.object.shared(
        read,
        async (ctx: SharedContext, query?: ViewQuery | null): Promise<View> =>
          await readView(ctx, cache, query),
      ),
      stored: restate.handlers.object.shared(
        read,
        async (ctx: SharedContext): Promise<SnapshotWithRecords | null> => await readStoredSession(ctx),
      ),
      records: restate.handlers.object.shared(
        read,
        async (ctx: SharedContext, { after, limit }: RecordsQuery): Promise<RecordsPage> =>
          await readRecords(ctx, after, Math.min(await readLastSeq(ctx), after + limit)),
      ),
    },
  });
}

/** Applies inputs to the session, stores the records, and starts and stops effects. */
async function apply(
  { agent, cache }: SessionParts,
  ctx: Context,
  { inputs, after, from }: Posted,
): Promise<PostedResult> {
  // Asked for at the same time as the head: one wait less.
  const clock = ctx.date.now();
  const opened = await openSession(agent, ctx, cache);
  const now = await clock;
  const { header, session: before } = opened;
  if (after !== undefined && after !== before.head.seq) return {};
  const release =
    opened.release === agent.version && before.state.dataStatus !== null
      ? []
      : releaseInputs(agent, before.state, now);
  const released = recordInputs(before, release);
  const { records, ignored, state, head } = recordEach(released, inputs);
  const all = [...released.records, ...records];
  if (!opened.isNew && all.length === 0) return { applied: 0, ignored };
  const { snapshot, tailBytes } = storeRecords(ctx, opened, { records: all, release: agent.version });
  cache.keep(ctx.key, { header, session: { state, head } }, snapshot.bytes + tailBytes);
  await startAndStop(agent, ctx, { before: before.state, after: state, from });
  return { applied: records.length, ignored };
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
