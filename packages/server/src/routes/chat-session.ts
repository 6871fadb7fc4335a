import { digestOf } from "@moora/event-log";
import type { SessionRef } from "../access/authorization.ts";
import { ChatStream, type ChatFormat } from "../chat/chat-stream.ts";
import { HttpProblem, sessionNotFound } from "../problem.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { RouteCall } from "./route.ts";

/**
 * The session of a chat: an own one of this id, or the one that belongs to the chat of this user and agent. A client chooses the
 * ids of its chats, so that they are unique only for their user.
 */
export async function chatSession(
  { parts, access, param }: RouteCall,
  chatId: string,
  creates: boolean,
): Promise<SessionRef> {
  const agent = param("agent");
  if (!parts.context.agents.has(agent)) throw new HttpProblem("not-found", "There is no such agent.");
  const own = await parts.directory.find(chatId);
  if (own?.agent === agent && (await access.may("post", own))) return own;
  const id = `chat_${digestOf("chat", access.user.toWellFormed(), agent, chatId.toWellFormed())}`;
  const found = await parts.directory.find(id);
  if (found === undefined && !creates) throw sessionNotFound();
  const ref: SessionRef = found ?? { id, agent, user: access.user };
  if (await access.may(found === undefined ? "create" : "post", ref)) return ref;
  throw new HttpProblem("forbidden", "You may not post to this chat.");
}

/** Opens a stream of a session. It is closed again if `begin` returns false, or throws. */
export async function withStream(
  { parts, access, connection, request }: RouteCall,
  { ref, format }: { readonly ref: SessionRef; readonly format: ChatFormat },
  begin: (stream: ChatStream, live: LiveSession) => Promise<boolean>,
): Promise<Response> {
  const uncount = parts.streams.add(access.user);
  const { live, release } = await parts.pool.hold(ref).catch((error: unknown) => {
    uncount();
    throw error;
  });
  const onEnd = (): void => {
    uncount();
    release();
    parts.streamEnds.delete(end);
  };
  const stream = new ChatStream(parts.context, live, {
    format,
    drop: connection.drop ?? (() => undefined),
    onEnd,
  });
  const end = (): void => stream.end();
  parts.streamEnds.add(end);
  request.signal.addEventListener("abort", end, { once: true });
  try {
    if (await begin(stream, live)) return stream.response;
    end();
    return new Response(null, { status: 204 });
  } catch (error) {
    end();
    throw error;
  }
}
