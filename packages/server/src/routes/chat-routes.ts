import type { ChatView } from "@moora/agent-webui-protocol";
import { readBody } from "../body.ts";
import {
  answeredDigests,
  answersOf,
  chatBodySchema,
  postedMessageOf,
  userMessageOf,
} from "../chat/chat-request.ts";
import { chatMessagesOf } from "../chat/chat-messages.ts";
import { isResumable } from "../chat/loop-end.ts";
import { PostedMessage } from "../chat/posted-message.ts";
import { uiMessageFormat as format } from "../chat/ui-message-format.ts";
import { HttpProblem } from "../problem.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { awaitQuestions } from "./awaited-questions.ts";
import { postAnswers, postUserMessage } from "./chat-posts.ts";
import { chatSession, findChat, withSessionHeader, nothingToResume, withStream } from "./chat-session.ts";
import { json, type Route } from "./route.ts";

/** Answers a message of `useChat`, or continues after its approvals, with a UI message stream. */
export const postChat: Route = async (call) => {
  const { parts, request } = call;
  const body = await readBody(request, chatBodySchema, parts.context);
  const posted = postedMessageOf(body);
  if (posted === undefined || posted.role === "system" || body.trigger === "regenerate-message") {
    const detail = "The posted message must be new, or contain approvals. Answers cannot be regenerated.";
    throw new HttpProblem("refused", detail, { path: "messages" });
  }
  const isUser = posted.role === "user";
  const ref = await chatSession(call, body.id, isUser ? "post" : "read");
  return await withStream(call, { ref, format }, async (stream, live) => {
    await live.refresh();
    if (!isUser) await awaitQuestions(parts.context, live, answeredDigests(posted));
    return isUser
      ? await postUserMessage(call, { stream, live }, userMessageOf(posted))
      : await postAnswers(call, { stream, live, posted: new PostedMessage(posted) }, (questions) =>
          answersOf(posted, questions),
        );
  });
};

/** Reads the messages of a chat, as a page shows them. A chat without a session has none: a page asks before it has sent its first one. */
export const readChat: Route = async (call) => {
  const ref = await findChat(call, call.param("id"), "read");
  if (ref === undefined) return json({ session: null, messages: [] } satisfies ChatView);
  const read = async (live: LiveSession): Promise<Response> => {
    await live.refresh();
    const view: ChatView = { session: ref.id, messages: [...chatMessagesOf(live, call.access.user)] };
    return withSessionHeader(json(view), ref);
  };
  return await call.parts.pool.use(ref, read, { isRead: true });
};

/**
 * Resumes the stream of a chat: the newest loop from its beginning. 204 if it has ended, and for a chat without messages: a page asks
 * before it has sent its first one.
 */
export const resumeChat: Route = async (call) => {
  const ref = await findChat(call, call.param("id"), "read");
  if (ref === undefined) return nothingToResume();
  return await withStream(call, { ref, format }, async (stream, live) => {
    await live.refresh();
    if (!isResumable(live.session.current(), live.stream.questions)) return false;
    stream.begin({ type: "replay" });
    return true;
  });
};
