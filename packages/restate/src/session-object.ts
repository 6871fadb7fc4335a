import {
  effectsAt,
  foldHeader,
  newSessionHeader,
  recordInputs,
  releaseInputs,
  type Agent,
  type AgentEffect,
  type AgentState,
  type FoldedSession,
} from "@moora/agent";
import type { LogRecord } from "@moora/event-log";
import * as restate from "@restatedev/restate-sdk";
import { checkedInput, decidedInput } from "./posted-inputs.ts";
import type { EffectHandlers } from "./effect-service.ts";
import { serviceNames } from "./options.ts";
import type {
  Decided,
  Posted,
  PostedResult,
  RecordsPage,
  RecordsQuery,
  ViewedSession,
} from "./session-messages.ts";

/** What the object of a session stores, besides its records, which are stored as `log/1`, `log/2` and so on. */
interface Stored {
  header: string;
  session: FoldedSession;
  /** The release of the agent whose configuration the session has. */
  version: string;
  /** The invocations of the effects that are under way, by their keys. */
  running: Record<string, string>;
}

/** Records are read and written by computed keys, which the type of the object cannot list. */
type Context = restate.ObjectContext<Stored & Record<`log/${number}`, LogRecord>>;
type SharedContext = restate.ObjectSharedContext<Stored & Record<`log/${number}`, LogRecord>>;

/** The handlers of the object of a session: `post` and `decide` for callers, `report` for effects, `expire` for timers. */
export interface SessionHandlers {
  post(ctx: Context, posted: Posted): Promise<PostedResult>;
  decide(ctx: Context, decided: Decided): Promise<PostedResult>;
  report(ctx: Context, posted: Posted): Promise<PostedResult>;
  expire(ctx: Context, effect: { readonly key: string; readonly due: number }): Promise<void>;
  view(ctx: SharedContext): Promise<ViewedSession | null>;
  records(ctx: SharedContext, query: RecordsQuery): Promise<RecordsPage>;
}

export type SessionObject = restate.VirtualObjectDefinition<string, SessionHandlers>;

/** The virtual object that folds the inputs of a session, one at a time, and starts the effects that its state wants. */
export function sessionObject(agent: Agent<unknown>): SessionObject {
  const { session: name } = serviceNames(agent.name);
  return restate.object({
    name,
    options: { enableLazyState: true },
    handlers: {
      post: async (ctx: Context, posted: Posted) => {
        const inputs = posted.inputs.map(checkedInput);
        return await apply(agent, ctx, { ...posted, inputs });
      },
      decide: async (ctx: Context, decided: Decided) => {
        const { state } = (await load(agent, ctx)).session;
        const header = (await ctx.get("header")) ?? "";
        const timestamp = await ctx.date.now();
        return await apply(agent, ctx, {
          inputs: [await decidedInput(agent, { id: ctx.key, header, state, timestamp }, decided)],
        });
      },
      report: async (ctx: Context, posted: Posted) => await apply(agent, ctx, posted),
      expire: async (ctx: Context, { key, due }: { readonly key: string; readonly due: number }) => {
        await apply(agent, ctx, { inputs: [{ type: "deadline-passed", key, timestamp: due }], from: key });
      },
      view: restate.handlers.object.shared(async (ctx: SharedContext): Promise<ViewedSession | null> => {
        const [header, session] = [await ctx.get("header"), await ctx.get("session")];
        if (header === null || session === null) return null;
        return { header, state: session.state, seq: session.head.seq };
      }),
      records: restate.handlers.object.shared(
        async (ctx: SharedContext, { after, limit }: RecordsQuery): Promise<RecordsPage> => {
          const last = Math.min((await ctx.get("session"))?.head.seq ?? 0, after + limit);
          const records: LogRecord[] = [];
          for (let seq = after + 1; seq <= last; seq += 1) {
            const record = await ctx.get(`log/${seq}`);
            if (record !== null) records.push(record);
          }
          return records;
        },
      ),
    },
  });
}

/** Applies inputs to the session, stores the records, and starts and stops effects. */
async function apply(
  agent: Agent<unknown>,
  ctx: Context,
  { inputs, after, from }: Posted,
): Promise<PostedResult> {
  const now = await ctx.date.now();
  const { session: before, isNew } = await load(agent, ctx);
  if (after !== undefined && after !== before.head.seq) return {};
  const version = isNew ? agent.version : await ctx.get("version");
  const release =
    version === agent.version && before.state.dataStatus !== null
      ? []
      : releaseInputs(agent, before.state, now);
  const released = recordInputs(before, release);
  const { records, ...session } = recordInputs(released, inputs);
  if (!isNew && released.records.length + records.length === 0) return { applied: 0 };
  for (const record of [...released.records, ...records]) ctx.set(`log/${record.seq}`, record);
  ctx.set("session", session);
  ctx.set("version", agent.version);
  await startAndStop(agent, ctx, { before: before.state, after: session.state, from });
  return { applied: records.length };
}

async function load(
  agent: Agent<unknown>,
  ctx: Context,
): Promise<{ readonly session: FoldedSession; readonly isNew: boolean }> {
  const stored = await ctx.get("session");
  if (stored !== null) return { session: stored, isNew: false };
  const header = newSessionHeader(agent, ctx.rand.uuidv4());
  ctx.set("header", header);
  return { session: foldHeader(header), isNew: true };
}

interface Change {
  readonly before: AgentState;
  readonly after: AgentState;
  /** The key of the effect that has ended by itself. */
  readonly from: string | undefined;
}

/** Starts the effects that are newly wanted, and cancels those that are no longer wanted. */
async function startAndStop(
  agent: Agent<unknown>,
  ctx: Context,
  { before, after, from }: Change,
): Promise<void> {
  const [old, wanted] = [effectsAt(before), effectsAt(after)];
  const started = Object.values(wanted).filter(
    ({ key, type }) => type !== "ask-human" && !Object.hasOwn(old, key),
  );
  const running = { ...(await ctx.get("running")) };
  const stopped = Object.keys(running).filter((key) => !Object.hasOwn(wanted, key));
  if (started.length + stopped.length === 0) return;
  for (const key of stopped) {
    const id = running[key];
    delete running[key];
    if (id !== undefined && key !== from) ctx.invocation(restate.InvocationIdParser.fromString(id)).cancel();
  }
  for (const effect of started) running[effect.key] = await start(agent, ctx, effect);
  ctx.set("running", running);
}

/** Starts an effect, and resolves with the id of its invocation. */
async function start(agent: Agent<unknown>, ctx: Context, effect: AgentEffect): Promise<string> {
  const { session, effects } = serviceNames(agent.name);
  if (effect.type !== "wait-until") {
    const client = ctx.serviceSendClient<EffectHandlers>({ name: effects });
    return await client.run({ id: ctx.key, effect }).invocationId;
  }
  const { key, due } = effect;
  const milliseconds = Math.max(0, due - (await ctx.date.now()));
  const client = ctx.objectSendClient<SessionHandlers>({ name: session }, ctx.key);
  return await client.expire({ key, due }, restate.rpc.sendOpts({ delay: { milliseconds } })).invocationId;
}
