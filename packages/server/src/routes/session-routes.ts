import { exportSession, removeSession as removeFromLog, stateAt, SessionError } from "@moora/agent";
import {
  checkIsNotCalled,
  checkIsWritten,
  fileHeaders,
  mediaTypeIn,
  removeLeft,
} from "@moora/agent/internal";
import type { LogInfo } from "@moora/event-log";
import { emptyBodySchema, type SessionPage } from "@moora/agent-webui-protocol";
import { requireRight } from "../access/authorization.ts";
import type { SessionRef } from "../access/grant.ts";
import { readOptionalBody } from "../body.ts";
import { storeOf } from "../files/files-of-session.ts";
import { urlOfDigest } from "../files/viewer-urls.ts";
import { agentNotFound, HttpProblem, sessionNotFound } from "../problem.ts";
import { digestAt, incarnationOf } from "../sessions/history-position.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { newSessionRef } from "../sessions/new-session.ts";
import { createdResponse, json, type Route, type RouteCall } from "./route.ts";

/** Lists the agents of which the user may create sessions. */
export const listAgents: Route = async ({ parts, request, access }) => {
  const names = [...parts.context.agents.keys()].toSorted();
  const may = await Promise.all(
    names.map((agent) =>
      access.may("create", newSessionRef(request, access, { agent, about: ["session", agent] })),
    ),
  );
  return json({ agents: names.filter((_, index) => may[index]).map((name) => ({ name })) });
};

/** Creates a session. A body has no fields, and may be missing. With an idempotency key, a repetition returns the session of the first request. */
export const createSession: Route = async ({ parts, request, access, param }) => {
  const agent = param("agent");
  if (!parts.context.agents.has(agent)) throw agentNotFound();
  const ref = newSessionRef(request, access, { agent, about: ["session", agent] });
  await readOptionalBody(request, emptyBodySchema, parts.context);
  await requireRight(access, "create", ref);
  const { id } = ref;
  const seq = await parts.pool.use(ref, async ({ session }) => session.seq());
  return createdResponse(parts.context, { id, agent, seq });
};

const defaultPageLength = 50;
const maxPageLength = 200;

/** Lists the own sessions of the user, ordered by id, in pages, with what they are about, their states and the times of their last records. */
export const listSessions: Route = async ({ parts, request, access }) => {
  const { searchParams } = new URL(request.url);
  const limit = numberParam(searchParams.get("limit"), "limit") ?? defaultPageLength;
  if (limit < 1 || limit > maxPageLength)
    throw new HttpProblem("invalid-request", `limit must be from 1 to ${maxPageLength}.`, { path: "limit" });
  const after = searchParams.get("after") ?? "";
  const { details } = parts;
  const { sessions, hasMore } = await parts.directory.page(access, { after, limit, details });
  const page: SessionPage = { sessions, next: hasMore ? (sessions.at(-1)?.id ?? null) : null };
  return json(page);
};

/** Reads a session: at its last record, or at `?at=SEQ`. */
export const readSessionView: Route = async (call) => {
  const { parts, request, access, param } = call;
  const ref = await parts.directory.findFor(access, "read", param("id"));
  const at = numberParam(new URL(request.url).searchParams.get("at"), "at");
  return at === undefined ? await currentView(call, ref) : await viewAt(call, ref, at);
};

const currentView = async ({ parts, access }: RouteCall, ref: SessionRef): Promise<Response> => {
  const read = async (live: LiveSession): Promise<Response> => {
    await live.refresh();
    const { session } = live;
    const { streaming: _, ...state } = session.current();
    const { id, agent } = ref;
    const { user } = access;
    const view = { id, agent, user, seq: session.seq(), state, questions: live.stream.questions };
    const digest = await digestAt(session, view.seq);
    return json({ ...view, incarnation: incarnationOf(session), digest });
  };
  return await parts.pool.use(ref, read, { isRead: true });
};

async function viewAt(
  { parts, access }: RouteCall,
  { id, agent }: SessionRef,
  at: number,
): Promise<Response> {
  const { log } = parts.context;
  try {
    await checkIsWritten(log, id);
    const { seq, state } = await stateAt(log, id, at);
    return json({ id, agent, user: access.user, seq, state, questions: [] });
  } catch (error) {
    if (!(error instanceof SessionError) || error.code !== "InvalidOption") throw error;
    const details = error.seq === undefined ? {} : { seq: error.seq };
    throw new HttpProblem("cursor-beyond-end", `The session has no record ${at}.`, details);
  }
}

/** The session as a portable text, with the digests of its records. */
export const exportRoute: Route = async ({ parts, access, param }) => {
  const { id } = await parts.directory.findFor(access, "read", param("id"));
  const text = await exportSession(parts.context.log, id);
  return new Response(text, { headers: { "content-type": "application/jsonl" } });
};

/** Reads a file whose bytes are stored outside the records. Only files that the session refers to are there. */
export const readFile: Route = async ({ parts, access, param }) => {
  const ref = await parts.directory.findFor(access, "read", param("id"));
  const url = urlOfDigest(param("digest"));
  const read = async ({ session }: LiveSession): Promise<string | undefined> => {
    await session.refresh();
    return mediaTypeIn(session.current(), url);
  };
  const mediaType = await parts.pool.use(ref, read, { isRead: true });
  const bytes = mediaType === undefined ? undefined : await storeOf(parts.context)?.get(url);
  if (mediaType === undefined || bytes === undefined)
    throw new HttpProblem("not-found", "The session has no such file.");
  return new Response(bytes.slice(), { headers: fileHeaders(mediaType, param("digest")) });
};

/**
 * Removes a session with all its records, and the sessions of its sub-agents, also those that an interrupted request has left. That of a
 * sub-agent whose call is open is refused.
 */
export const removeSession: Route = async (call) => {
  const { parts, access, param } = call;
  const { log } = parts.context;
  const ref = await parts.directory.findTaken(access, "remove", param("id"));
  if (ref === undefined) return await removeWhatIsLeft(call);
  const { id } = ref;
  // Before its streams are closed. `removeSession` checks it again.
  await checkIsNotCalled(log, id);
  await parts.pool.close(id);
  await parts.forks.rememberRemoval(id);
  return removedResponse(await removeFromLog(log, id));
};

/** Removes what an interrupted removal has left of a session that the log does not have. */
async function removeWhatIsLeft({ parts, access, param }: RouteCall): Promise<Response> {
  const mayRemove = (left: LogInfo): Promise<boolean> => parts.directory.mayRemove(access, left);
  return removedResponse(await removeLeft(parts.context.log, param("id"), mayRemove));
}

function removedResponse(removed: readonly string[]): Response {
  if (removed.length === 0) throw sessionNotFound();
  return new Response(null, { status: 204 });
}

function numberParam(text: string | null, path: string): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HttpProblem("invalid-request", `${path} must be an integer from 0.`, { path });
}
