import { effectsAt, type Agent, type AgentEffect, type AgentState } from "@moora/agent";
import * as restate from "@restatedev/restate-sdk";
import type { EffectHandlers } from "./effect-service.ts";
import { serviceNames } from "./options.ts";
import type { SessionHandlers } from "./session-handlers.ts";
import type { Context } from "./stored-session.ts";

/** A change of the state of a session. */
interface Change {
  /** The digest of the header of the session. */
  readonly header: string;
  readonly before: AgentState;
  readonly after: AgentState;
  /** The key of the effect that has ended by itself. */
  readonly from: string | undefined;
}

/** Starts the effects that are newly wanted, and cancels those that are no longer wanted. */
export async function startAndStop(
  agent: Agent<unknown>,
  ctx: Context,
  { header, before, after, from }: Change,
): Promise<void> {
  const [old, wanted] = [effectsAt(before), effectsAt(after)];
  const started = Object.values(wanted).filter(
    ({ key, type }) => type !== "ask-human" && !Object.hasOwn(old, key),
  );
  const hasEnded = Object.keys(old).some((key) => !Object.hasOwn(wanted, key));
  // Only effects that the state before wanted can run.
  if (started.length === 0 && !hasEnded) return;
  const running = { ...(await ctx.get("running")) };
  const stopped = Object.keys(running).filter((key) => !Object.hasOwn(wanted, key));
  if (started.length + stopped.length === 0) return;
  for (const key of stopped) {
    const id = running[key];
    delete running[key];
    if (id !== undefined && key !== from) ctx.invocation(restate.InvocationIdParser.fromString(id)).cancel();
  }
  for (const effect of started) running[effect.key] = await start(agent, ctx, { effect, header });
  ctx.set("running", running);
}

/** Starts an effect, and resolves with the id of its invocation. */
async function start(
  agent: Agent<unknown>,
  ctx: Context,
  { effect, header }: { readonly effect: AgentEffect; readonly header: string },
): Promise<string> {
  const { session, effects } = serviceNames(agent.name);
  if (effect.type !== "wait-until") {
    const client = ctx.serviceSendClient<EffectHandlers>({ name: effects });
    return await client.run({ id: ctx.key, effect, header }).invocationId;
  }
  const { key, due } = effect;
  // The SDK cuts off the part of a millisecond, and no timer ends early.
  const milliseconds = Math.max(0, Math.ceil(due - (await ctx.date.now())));
  const client = ctx.objectSendClient<SessionHandlers>({ name: session }, ctx.key);
  return await client.expire({ key, due, header }, restate.rpc.sendOpts({ delay: { milliseconds } }))
    .invocationId;
}
