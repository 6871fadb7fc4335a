import { deadlinePassed } from "@moora/agent-core-effects/internal";
import type { LogRecord } from "@moora/event-log";
import * as restate from "@restatedev/restate-sdk";
import { apply, type SessionParts } from "./apply-inputs.ts";
import { append, create, readLogHead, remove } from "./log-handlers.ts";
import {
  checkedDeadline,
  checkedDecision,
  checkedPart,
  checkedPosted,
  checkedRecordsQuery,
  checkedReport,
  checkedView,
  checkId,
} from "./posted-inputs.ts";
import { orRefuse } from "./release-refusal.ts";
import { retentionOptions, serviceNames, type RestateOptions } from "./options.ts";
import type {
  Decided,
  LogHead,
  Posted,
  PostedResult,
  RecordsQuery,
  Report,
  SessionAppend,
  SessionDeadline,
  SnapshotPart,
  View,
  ViewQuery,
} from "./session-messages.ts";
import { openSession, readStored, type Context, type SharedContext } from "./stored-session.ts";
import { readPage, readView } from "./stored-reads.ts";
import type { SessionHandlers } from "./session-handlers.ts";

type ReadName = "view" | "part" | "records" | "header" | "head";

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
  const { agent } = parts;
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
      report: async (ctx: Context, report: Report) => await apply(parts, ctx, checkedReport(report)),
      expire: restate.handlers.object.exclusive(
        { ingressPrivate: true },
        async (ctx: Context, deadline: SessionDeadline): Promise<void> => {
          const { key, due, header } = checkedDeadline(deadline);
          const { session } = await openSession(parts.agent, ctx, parts.cache);
          const now = Math.max(due, await ctx.date.now());
          const inputs = [await deadlinePassed(key, session.state, parts.agent.parts, now)];
          await apply(parts, ctx, { inputs, from: key, header });
        },
      ),
      ...readHandlers,
    },
  });
}

async function decide(parts: SessionParts, ctx: Context, decided: Decided): Promise<PostedResult> {
  const { agent, cache } = parts;
  const { header, session } = await openSession(agent, ctx, cache);
  const timestamp = await ctx.date.now();
  const about = { id: ctx.key, header, state: session.state, timestamp };
  return await apply(parts, ctx, { inputs: [await checkedDecision(agent, about, decided)] });
}

const { shared } = restate.handlers.object;

/** The handlers that read. A caller that gives up does not end its read. */
const readHandlers: Pick<SessionHandlers, ReadName> = {
  view: shared(
    read,
    async (ctx: SharedContext, query?: ViewQuery | null): Promise<View | null> =>
      await readView(ctx, checkedView(query)),
  ),
  part: shared(read, async (ctx: SharedContext, part: SnapshotPart): Promise<string | null> => {
    const { at, index } = checkedPart(part);
    return await ctx.get(`session/${at}/${index}`);
  }),
  records: shared(read, async (ctx: SharedContext, query: RecordsQuery): Promise<readonly LogRecord[]> => {
    const { after, limit } = checkedRecordsQuery(query);
    return await readPage(ctx, after, Math.min((await readStored(ctx))?.head.seq ?? 0, after + limit));
  }),
  header: shared(
    read,
    async (ctx: SharedContext): Promise<string | null> => (await readStored(ctx))?.header ?? null,
  ),
  head: shared(read, async (ctx: SharedContext): Promise<LogHead | null> => await readLogHead(ctx)),
};
