import {
  nextWorkAt,
  openSession,
  SessionError,
  sessionOwner,
  type Agent,
  type DurableSession,
  type ErrorListener,
  type OpenOptions,
} from "@moora/agent";
import type { SessionRef } from "../access/grant.ts";
import type { ServerContext } from "../server-options.ts";

/** What a session of a server is opened with. */
export interface Opening {
  readonly context: ServerContext;
  readonly agent: Agent<unknown>;
  readonly ref: SessionRef;
  /** Whether it is the session of a sub-agent, to which a server only posts. */
  readonly isOfSubAgent: boolean;
  readonly onError: ErrorListener;
}

/** Opens a session to read it; undefined for one with an owner, or with work that is due. */
export async function openResting(opening: Opening): Promise<DurableSession<unknown> | undefined> {
  const { context, agent, ref, isOfSubAgent } = opening;
  const { log, clock } = context;
  if (isOfSubAgent || log.owner !== undefined) return undefined;
  if ((await sessionOwner(log, ref.id, { clock })) !== undefined) return undefined;
  const session = await openSession(agent, { ...(await optionsOf(opening)), access: "post" });
  if (!isDue(session, clock)) return session;
  await session.close();
  return undefined;
}

/** Opens a session to run it; to post to it if another process runs it, or is to run it. */
export async function openAny(opening: Opening): Promise<DurableSession<unknown>> {
  const { agent, isOfSubAgent } = opening;
  const options = await optionsOf(opening);
  if (isOfSubAgent) return await openSession(agent, { ...options, access: "post" });
  try {
    return await openSession(agent, options);
  } catch (error) {
    if (!(error instanceof SessionError) || error.code !== "SessionBusy") throw error;
    return await openSession(agent, { ...options, access: "post" });
  }
}

async function optionsOf({ context: server, ref, onError }: Opening): Promise<OpenOptions> {
  const { log, clock, owner, leaseMs, blobs, context, onLog } = server;
  const { id, user } = ref;
  return {
    log,
    id,
    clock,
    owner,
    ...(leaseMs === undefined ? {} : { leaseMs }),
    ...(user === null ? {} : { user }),
    ...(blobs === false ? {} : { blobs }),
    ...(context === undefined || log.owner !== undefined ? {} : { context: await context(user, ref) }),
    onError,
    ...(onLog === undefined ? {} : { onLog }),
  };
}

/** Whether a session has work now. */
export function isDue(session: DurableSession<unknown>, clock: ServerContext["clock"]): boolean {
  const due = nextWorkAt(session.current());
  return due !== null && due <= clock.now();
}
