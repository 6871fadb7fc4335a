import { digestOf } from "@moora/event-log";
import type { SessionAction, SessionRef } from "../access/authorization.ts";
import { ChatStream, type ChatFormat } from "../chat/chat-stream.ts";
import { agentNotFound, HttpProblem, sessionNotFound } from "../problem.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { RouteCall } from "./route.ts";
import { holdForStream } from "./stream-hold.ts";

/**
 * The session of a chat: an own one of this id, or the one that belongs to the chat of this user and agent. A client chooses the
 * ids of its chats, so that they are unique only for their user. A missing one is created by its first message if `creates`.
 */
export async function chatSession(call: RouteCall, chatId: string, creates: boolean): Promise<SessionRef> {
  const found = await findChat(call, chatId, creates);
  if (found === undefined) throw sessionNotFound();
  return found;
}

/** The session of a chat as `chatSession` finds it; undefined for a missing one, unless `creates`. */
export async function findChat(
  { parts, access, param }: RouteCall,
  chatId: string,
  creates = false,
): Promise<SessionRef | undefined> {
  const agent = param("agent");
  if (!parts.context.agents.has(agent)) throw agentNotFound();
  const own = await parts.directory.find(chatId);
  // The answer streams what is read.
  const mayAlsoRead = async (action: SessionAction, ref: SessionRef): Promise<boolean> =>
    (await access.may(action, ref)) && (await access.may("read", ref));
  if (own?.agent === agent && (await mayAlsoRead("post", own))) return own;
  const id = `chat_${digestOf("chat", access.user.toWellFormed(), agent, chatId.toWellFormed())}`;
  const found = await parts.directory.find(id);
  if (found === undefined && !creates) return undefined;
  const ref: SessionRef = found ?? { id, agent, user: access.user };
  if (await mayAlsoRead(found === undefined ? "create" : "post", ref)) return ref;
  throw new HttpProblem("forbidden", "You may not post to this chat.");
}

/** Opens a stream of a session. It is closed again if `begin` returns false, because there is nothing to stream, or throws. */
export async function withStream(
  call: RouteCall,
  { ref, format }: { readonly ref: SessionRef; readonly format: ChatFormat },
  begin: (stream: ChatStream, live: LiveSession) => Promise<boolean>,
): Promise<Response> {
  const hold = await holdForStream(call, ref);
  const stream = new ChatStream(call.parts.context, hold, format, call.access.user);
  try {
    if (await begin(stream, hold.live)) return namingSession(stream.response, ref);
  } catch (error) {
    stream.end();
    throw error;
  }
  stream.end();
  return namingSession(nothingToResume(), ref);
}

/** The response with the id of the session in a header, encoded as in a path. */
export function namingSession(response: Response, { id }: Pick<SessionRef, "id">): Response {
  response.headers.set(sessionHeader, encodeURIComponent(id));
  return response;
}

const sessionHeader = "moora-session";

/** The response of a chat in which no answer is being written. */
export const nothingToResume = (): Response => new Response(null, { status: 204 });
