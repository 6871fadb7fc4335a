import { digestOf } from "@moora/event-log";
import { requireRight, type Access } from "../access/authorization.ts";
import type { SessionAction, SessionRef } from "../access/grant.ts";
import type { ChatFormat } from "../chat/chat-format.ts";
import { ChatStream } from "../chat/chat-stream.ts";
import { agentNotFound, sessionNotFound } from "../problem.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { RouteCall } from "./route.ts";
import { holdForStream } from "../sessions/stream-hold.ts";

/** The rights that a request to a chat needs: to read it, or to post a message to it, whose answer it reads. */
const rightsFor = { read: ["read"], post: ["read", "post"] } as const;

/** The session of a chat as `findChat` finds it. Throws `not-found` for a missing one. */
export async function chatSession(
  call: RouteCall,
  chatId: string,
  use: keyof typeof rightsFor,
): Promise<SessionRef> {
  const found = await findChat(call, chatId, use);
  if (found === undefined) throw sessionNotFound();
  return found;
}

/**
 * The session of a chat: an own one of this id, the one that belongs to the chat of this user and agent, or one of another user for
 * which this one has the rights. A client chooses the ids of its chats, so that they are unique only for their user. A missing
 * one is created by its first message, and undefined if it is only read. Throws `forbidden`, which names the missing right.
 */
export async function findChat(
  { parts, access, param }: RouteCall,
  chatId: string,
  use: keyof typeof rightsFor,
): Promise<SessionRef | undefined> {
  const agent = param("agent");
  if (!parts.context.agents.has(agent)) throw agentNotFound();
  const rights = rightsFor[use];
  const found = await parts.directory.find(chatId);
  const given = found?.agent === agent ? found : undefined;
  if (given?.user === access.user) return await permitted(access, given, rights);
  const id = `chat_${digestOf("chat", access.user.toWellFormed(), agent, chatId.toWellFormed())}`;
  const chat = await parts.directory.find(id);
  if (chat !== undefined) return await permitted(access, chat, rights);
  if (given !== undefined && (await hasRights(access, given, rights))) return given;
  if (use === "read") return undefined;
  return await permitted(access, { id, agent, user: access.user }, ["create", ...rights]);
}

/** A session for which a user has these rights. Throws `forbidden`, which names the first one that is missing. */
export async function permitted(
  access: Access,
  ref: SessionRef,
  rights: readonly SessionAction[],
): Promise<SessionRef> {
  for (const right of rights) await requireRight(access, right, ref, "chat");
  return ref;
}

async function hasRights(
  access: Access,
  ref: SessionRef,
  rights: readonly SessionAction[],
): Promise<boolean> {
  for (const right of rights) if (!(await access.may(right, ref))) return false;
  return true;
}

/** A session whose stream is sent in a format. */
interface ChatTarget {
  readonly ref: SessionRef;
  readonly format: ChatFormat;
  /** Called when the reader has taken the end of a loop. */
  readonly onWhole?: (loop: number) => void;
}

/** Opens a stream of a session. It is closed again if `begin` returns false, because there is nothing to stream, or throws. */
export async function withStream(
  call: RouteCall,
  { ref, format, onWhole }: ChatTarget,
  begin: (stream: ChatStream, live: LiveSession) => Promise<boolean>,
): Promise<Response> {
  const hold = await holdForStream(call, ref);
  const stream = new ChatStream(hold, format, onWhole);
  try {
    if (await begin(stream, hold.live)) return withSessionHeader(stream.response, ref);
  } catch (error) {
    stream.end();
    throw error;
  }
  stream.end();
  return withSessionHeader(nothingToResume(), ref);
}

/** The response with the id of the session in a header, encoded as in a path. */
export function withSessionHeader(response: Response, { id }: Pick<SessionRef, "id">): Response {
  response.headers.set(sessionHeader, encodeURIComponent(id));
  return response;
}

const sessionHeader = "moora-session";

/** The response of a chat in which no answer is being written. */
export const nothingToResume = (): Response => new Response(null, { status: 204 });
