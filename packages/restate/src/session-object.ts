import * as restate from "@restatedev/restate-sdk";
import { apply, type SessionParts } from "./apply-inputs.ts";
import { append, create, readLogHead, remove } from "./log-handlers.ts";
import { checkedPosted, checkedReport, decidedInput } from "./posted-inputs.ts";
import { checkId, checkedAfter, checkedDeadline, checkedPart, checkedRecordsQuery } from "./queries.ts";
import { orRefuse } from "./release-refusal.ts";
import { retentionOptions, serviceNames, type RestateOptions } from "./options.ts";
import type { SessionCache } from "./session-cache.ts";
import type {
  Decided,
  LogHead,
  Posted,
  PostedResult,
  RecordsPage,
  RecordsQuery,
  SessionAppend,
  SessionDeadline,
  SnapshotPart,
  StoredSession,
  View,
  ViewQuery,
} from "./session-messages.ts";
import { readLastSeq, openSession, type Context, type SharedContext } from "./stored-session.ts";
import { readPage, readPart, readStoredSession, readView } from "./stored-reads.ts";
import type { SessionHandlers } from "./session-handlers.ts";

type ReadName = "view" | "stored" | "part" | "records" | "header" | "head";

export type SessionObject = restate.VirtualObjectDefinition<string, SessionHandlers>;

/** A read that fails is repeated for about a minute: its caller has given up by then, and reads again. */
const readRetries: restate.RetryPolicy = {
  initialInterval: 50,
  exponentiationFactor: 2,
  maxInterval: 10_000,
  maxAttempts: 14,
  onMaxAttempts: "kill",
};

/** The journal of a read has what was read: it is of no use when the read has ended. */
const read = { ...retentionOptions(0), retryPolicy: readRetries };

/** The virtual object that folds the inputs of a session, one at a time, and starts the effects that its state wants. */
export function sessionObject(parts: SessionParts, options: RestateOptions): SessionObject {
  const { agent, cache } = parts;
  const { session: name } = serviceNames(agent.name);
  return restate.object({
    name,
    options: { enableLazyState: true, ...retentionOptions(options.retentionMs) },
    handlers: {
      post: async (ctx: Context, posted: Posted) => {
        checkId(ctx.key);
        return await orRefuse(() => apply(parts, ctx, checkedPosted(posted)));
      },
      decide: async (ctx: Context, decided: Decided) => await orRefuse(() => decide(parts, ctx, decided)),
      create: async (ctx: Context, given: { readonly header: string }) => {
        checkId(ctx.key);
        return await create(parts, ctx, given);
      },
      append: async (ctx: Context, appended: SessionAppend) =>
        await orRefuse(() => append(parts, ctx, appended)),
      remove: async (ctx: Context) => await remove(ctx),
      report: async (ctx: Context, posted: Posted) => await apply(parts, ctx, checkedReport(posted)),
      expire: restate.handlers.object.exclusive(
        { ingressPrivate: true },
        async (ctx: Context, deadline: SessionDeadline): Promise<void> => {
          const { key, due, ...session } = checkedDeadline(deadline);
          const inputs = [{ type: "deadline-passed", key, timestamp: due }] as const;
          await apply(parts, ctx, { inputs, from: key, ...session });
        },
      ),
      ...readHandlers(cache),
    },
  });
}

async function decide(parts: SessionParts, ctx: Context, decided: Decided): Promise<PostedResult> {
  const { agent, cache } = parts;
  const { header, session } = await openSession(agent, ctx, cache);
  const timestamp = await ctx.date.now();
  const about = { id: ctx.key, header, state: session.state, timestamp };
  return await apply(parts, ctx, { inputs: [await decidedInput(agent, about, decided)] });
}

/** The handlers that read. A caller that gives up does not end its read. */
const readHandlers = (cache: SessionCache): Pick<SessionHandlers, ReadName> => ({
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
  header: restate.handlers.object.shared(
    read,
    async (ctx: SharedContext): Promise<string | null> => await ctx.get("header"),
  ),
  head: restate.handlers.object.shared(
    read,
    async (ctx: SharedContext): Promise<LogHead | null> => await readLogHead(ctx),
  ),
});
