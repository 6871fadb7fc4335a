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
import { longestMessageBytes, isTooLong } from "./message-limits.ts";
import { checkedPosted, checkedReport, decidedInput } from "./posted-inputs.ts";
import { checkId, checkedAfter, checkedDeadline, checkedPart, checkedRecordsQuery } from "./queries.ts";
import { retentionOptions, serviceNames, type RestateOptions } from "./options.ts";
import { startAndStop } from "./running-effects.ts";
import type { SessionCache } from "./session-cache.ts";
import type {
  Decided,
  Posted,
  PostedResult,
  RecordsPage,
  RecordsQuery,
  SnapshotPart,
  StoredSession,
  View,
  ViewQuery,
} from "./session-messages.ts";
import {
  readLastSeq,
  openSession,
  storeRecords,
  type Context,
  type SharedContext,
} from "./stored-session.ts";
import { readPage, readPart, readStoredSession, readView } from "./stored-reads.ts";

/**
 * The handlers of the object of a session: `post` and `decide` for callers, `report` for effects, `expire` for timers. `view`,
 * `stored`, `part` and `records` read.
 */
export interface SessionHandlers {
  post(ctx: Context, posted: Posted): Promise<PostedResult>;
  decide(ctx: Context, decided: Decided): Promise<PostedResult>;
  report(ctx: Context, posted: Posted): Promise<PostedResult>;
  expire(ctx: Context, effect: { readonly key: string; readonly due: number }): Promise<void>;
  view(ctx: SharedContext, query?: ViewQuery | null): Promise<View>;
  stored(ctx: SharedContext): Promise<StoredSession | null>;
  part(ctx: SharedContext, part: SnapshotPart): Promise<string | null>;
  records(ctx: SharedContext, query: RecordsQuery): Promise<RecordsPage>;
}

export type SessionObject = restate.VirtualObjectDefinition<string, SessionHandlers>;

/** A read that fails is repeated for about a minute: its caller has given up by then, and reads again. */
const readRetries: restate.RetryPolicy = {
  initialInterval: 50,
  exponentiationFactor: 2,
  maxInterval: 10_000,
  maxAttempts: 14,
  onMaxAttempts: "kill",
};

/** What the handlers of the object need besides their context. */
interface SessionParts {
  readonly agent: Agent<unknown>;
  readonly cache: SessionCache;
}

/** The virtual object that folds the inputs of a session, one at a time, and starts the effects that its state wants. */
export function sessionObject(parts: SessionParts, options: RestateOptions): SessionObject {
  const { agent, cache } = parts;
  const { session: name } = serviceNames(agent.name);
  // The journal of a read has what was read: it is of no use when the read has ended. A caller that gives up does not end its read.
  const read = { ...retentionOptions(0), retryPolicy: readRetries };
  return restate.object({
    name,
    options: { enableLazyState: true, ...retentionOptions(options.retentionMs) },
    handlers: {
      post: async (ctx: Context, posted: Posted) => {
        checkId(ctx.key);
        return await apply(parts, ctx, checkedPosted(posted));
      },
      decide: async (ctx: Context, decided: Decided) => {
        const { header, session } = await openSession(agent, ctx, cache);
        const timestamp = await ctx.date.now();
        const about = { id: ctx.key, header, state: session.state, timestamp };
        return await apply(parts, ctx, { inputs: [await decidedInput(agent, about, decided)] });
      },
      report: async (ctx: Context, posted: Posted) => await apply(parts, ctx, checkedReport(posted)),
      expire: restate.handlers.object.exclusive(
        { ingressPrivate: true },
        async (ctx: Context, deadline: { readonly key: string; readonly due: number }): Promise<void> => {
          const { key, due } = checkedDeadline(deadline);
          await apply(parts, ctx, { inputs: [{ type: "deadline-passed", key, timestamp: due }], from: key });
        },
      ),
      view: restate.handlers.object.shared(
        read,
        async (ctx: SharedContext, query?: ViewQuery | null): Promise<View> =>
          await readView(ctx, cache, checkedAfter(query)),
      ),
      stored: restate.handlers.object.shared(
        read,
        async (ctx: SharedContext): Promise<StoredSession | null> => await readStoredSession(ctx),
      ),
      part: restate.handlers.object.shared(
        read,
        async (ctx: SharedContext, part: SnapshotPart): Promise<string | null> =>
          await readPart(ctx, checkedPart(part)),
      ),
      records: restate.handlers.object.shared(
        read,
        async (ctx: SharedContext, query: RecordsQuery): Promise<RecordsPage> => {
          const { after, limit } = checkedRecordsQuery(query);
          return await readPage(ctx, after, Math.min(await readLastSeq(ctx), after + limit));
        },
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
  if (all.some(isTooLong)) {
    const message = `An input is longer than ${longestMessageBytes} bytes as a record.`;
    throw new restate.TerminalError(message, { errorCode: 413 });
  }
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
