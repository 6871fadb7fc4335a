import type { Receipt } from "@moora/agent";
import { digestOf } from "@moora/event-log";
import type { SessionRef } from "../access/authorization.ts";
import { readBody } from "../body.ts";
import { answersOf, chatBodySchema, userContentOf, type ChatMessage } from "../chat/chat-request.ts";
import { ChatStream } from "../chat/chat-stream.ts";
import { isResumable } from "../chat/loop-writer.ts";
import { HttpProblem, sessionNotFound } from "../problem.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { Route, RouteCall } from "./route.ts";

/** Answers a message of `useChat`, or continues after its approvals, with a UI message stream. */
export const postChat: Route = async (call) => {
  const { parts, request } = call;
  const body = await readBody(request, chatBodySchema, parts.context);
  const last = body.messages.at(-1);
  if (last === undefined || last.role === "system" || body.trigger === "regenerate-message") {
    const detail = "The last message must be new, or contain approvals. A log has no second answer.";
    throw new HttpProblem("refused", detail, { path: "messages" });
  }
  const ref = await chatSession(call, body.id, last.role === "user");
  return await withStream(call, ref, async (stream, live) =>
    last.role === "user"
      ? await postUserMessage(call, { stream, live, message: last })
      : await postAnswers(call, { stream, live, message: last }),
  );
};

/** Resumes the stream of a chat: the newest loop from its beginning. 204 if it has ended. */
export const resumeChat: Route = async (call) => {
  const ref = await chatSession(call, call.param("id"), false);
  return await withStream(call, ref, async (stream, live) => {
    if (!isResumable(live.session.current())) return false;
    stream.begin({ type: "replay" });
    return true;
  });
};

/**
 * The session of a chat: an own one of this id, or the one that belongs to the chat of this user and agent. A client chooses the
 * ids of its chats, so that they are unique only for their user.
 */
async function chatSession(
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
async function withStream(
  { parts, access, connection, request }: RouteCall,
  ref: SessionRef,
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
  const stream = new ChatStream(parts.context, live, { drop: connection.drop ?? (() => undefined), onEnd });
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

interface ChatPost {
  readonly stream: ChatStream;
  readonly live: LiveSession;
  readonly message: ChatMessage;
}

async function postUserMessage({ parts }: RouteCall, { stream, live, message }: ChatPost): Promise<true> {
  const { id: messageId } = message;
  const content = userContentOf(message);
  const timestamp = parts.context.clock.now();
  stream.begin({ type: "message", messageId });
  const receipt = await live.post((session) =>
    session.dispatch({ type: "user-message-received", messageId, ...content, timestamp }),
  );
  if (receipt.status === "accepted") return true;
  if (receipt.reason !== "duplicate-id") throw refused(receipt);
  const before = live.session.current().messages.find(({ id }) => id === messageId);
  if (before?.content !== content.content)
    throw new HttpProblem("refused", "The log has another message of this id. Messages cannot be edited.");
  // A repeated request, whose first answer was lost.
  stream.begin({ type: "replay" });
  return true;
}

async function postAnswers({ access }: RouteCall, { stream, live, message }: ChatPost): Promise<true> {
  const answered = answersOf(message, live.session.questions());
  stream.begin({ type: "continue" });
  for (const { question, decision } of answered) {
    if (!(await access.may("decide", live.ref))) throw new HttpProblem("forbidden", "You may not decide.");
    await live.post((session) => session.decide(question, decision, access.user));
  }
  stream.release();
  return true;
}

const refused = (receipt: Extract<Receipt, { status: "ignored" }>): HttpProblem =>
  new HttpProblem("refused", `The message was ignored: ${receipt.reason}.`);
