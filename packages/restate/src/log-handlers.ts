import { foldHeader, recordInputs } from "@moora/agent";
import { digestOf } from "@moora/event-log";
import * as restate from "@restatedev/restate-sdk";
import { inputsOfRelease, store, type SessionParts } from "./apply-inputs.ts";
import { checkedAppend, checkedHeader, refused } from "./posted-inputs.ts";
import type { AppendResult, LogHead } from "./session-messages.ts";
import { openSession, readStored, storeRecords, type Context, type SharedContext } from "./stored-session.ts";

/** Creates a session with a header and no record. Returns false if it exists. */
export async function create({ agent }: SessionParts, ctx: Context, given: unknown): Promise<boolean> {
  const { header, release } = checkedHeader(agent, given);
  if ((await ctx.get("header")) !== null) return false;
  storeRecords(ctx, { header, session: foldHeader(header), head: undefined }, { records: [], release });
  return true;
}

/**
 * Appends the records that a log has made for a session at a head. The object makes them again of their inputs, and refuses them if
 * it makes others. A session of an earlier release is brought to this one instead: the log makes other records then.
 */
export async function append(parts: SessionParts, ctx: Context, appended: unknown): Promise<AppendResult> {
  const { header, after, inputs, digest } = checkedAppend(appended);
  if (digestOf((await ctx.get("header")) ?? "") !== header) return { type: "removed" };
  const opened = await openSession(parts.agent, ctx, parts.cache);
  const { session } = opened;
  const { seq, digest: last } = session.head;
  if (after.seq !== seq || after.digest !== last) return { type: "conflict", seq };
  const release = inputsOfRelease(parts, opened, await ctx.date.now());
  if (release.length > 0) {
    const made = recordInputs(session, release);
    await store(parts, ctx, { opened, made });
    return { type: "conflict", seq: made.head.seq };
  }
  const made = recordInputs(session, inputs);
  if (made.head.digest !== digest)
    return refused("The records are not those that a session of this agent makes.");
  await store(parts, ctx, { opened, made });
  return { type: "appended" };
}

/** Cancels the effects of a session and clears its state. Returns false if there is none. */
export async function remove(ctx: Context): Promise<boolean> {
  if ((await ctx.get("header")) === null) return false;
  for (const id of Object.values((await ctx.get("running")) ?? {}))
    ctx.invocation(restate.InvocationIdParser.fromString(id)).cancel();
  ctx.clearAll();
  return true;
}

/** Reads which session an id has, and its last record; null if it has none. */
export async function readLogHead(ctx: SharedContext): Promise<LogHead | null> {
  const stored = await readStored(ctx);
  if (stored === null) return null;
  const { seq, digest } = stored.head;
  return { header: digestOf(stored.header), seq, digest };
}
