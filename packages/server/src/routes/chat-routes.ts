import type { ChatView } from "@moora/agent-webui-protocol";
import { readBody } from "../body.ts";
import {
  chatBodySchema,
  isRegenerated,
  postedMessageOf,
  showsAnswer,
  userMessageOf,
} from "../chat/chat-request.ts";
import { chatMessagesOf } from "../chat/chat-messages.ts";
import { isResumable } from "../chat/loop-end.ts";
import { PostedMessage } from "../chat/posted-message.ts";
import { uiMessageFormat as format } from "../chat/ui-message-format.ts";
import { HttpProblem } from "../problem.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { requireQuestions } from "./awaited-questions.ts";
import { postAnswers, postUserMessage } from "./chat-posts.ts";
import { chatSession, findChat, withSessionHeader, nothingToResume, withStream } from "./chat-session.ts";
import { regenerateAnswer } from "./regenerated-answer.ts";
import { json, type Route } from "./route.ts";

/** Answers a message of `useChat`, once more if it asks for that, or continues after its approvals, with a UI message stream. */
export const postChat: Route = async (call) => {
  const { parts, request } = call;
  const body = await readBody(request, chatBodySchema, parts.context);
  const posted = postedMessageOf(body);
  const isUser = posted.role === "user";
  // The answers in a new session would have the ids of those that the page shows.
  if (isUser && showsAnswer(body) && (await findChat(call, body.id, "read")) === undefined)
    throw new HttpProblem("not-found", "The chat that the page shows was removed. Load it again.");
  const ref = await chatSession(call, body.id, isUser ? "post" : "read");
  // A page that answers has read the part of the loop before its question.
  const onWhole = (loop: number): void =>
    parts.deliveredLoops.sentWhole(ref.id, call.access.user, loop, !isUser);
  return await withStream(call, { ref, format, onWhole }, async (stream, live) => {
    await live.refresh();
    if (isUser) {
      const answer = isRegenerated(body) ? regenerateAnswer : postUserMessage;
      return await answer(call, { stream, live }, userMessageOf(posted));
    }
    const message = new PostedMessage(posted);
    const { approvals, outputs } = message;
    // An output may be a result as well as an answer. What is not asked where the session runs has ended.
    const required = live.isOwner ? [] : approvals;
    const logged = await requireQuestions(parts.context, live, [...approvals, ...outputs], required);
    message.checkCalls(live.session.current());
    const answers = message.answers([...live.stream.questions, ...logged]);
    await postAnswers(call, { stream, live, answers, posted: message, logged });
    stream.release();
    return true;
  });
};

/** Reads the messages of a chat, as a page shows them. A chat without a session has none: a page asks before it has sent its first one. */
export const readChat: Route = async (call) => {
  const ref = await findChat(call, call.param("id"), "read");
  if (ref === undefined) return json({ session: null, messages: [] } satisfies ChatView);
  const { pool, deliveredLoops } = call.parts;
  const { user } = call.access;
  const read = async (live: LiveSession): Promise<Response> => {
    await live.refresh();
    const view: ChatView = { session: ref.id, messages: [...chatMessagesOf(live, user)] };
    const { loop } = live.session.current().reActContext;
    if (isResumable(live.session.current(), live.stream.questions))
      deliveredLoops.readPart(ref.id, user, loop);
    else deliveredLoops.sentWhole(ref.id, user, loop);
    return withSessionHeader(json(view), ref);
  };
  return await pool.use(ref, read, { isRead: true });
};

/**
 * Resumes the stream of a chat: the newest loop from its beginning. 204 if it has ended, and the user has been sent its end, and for a chat
 * without messages: a page asks before it has sent its first one.
 */
export const resumeChat: Route = async (call) => {
  const ref = await findChat(call, call.param("id"), "read");
  if (ref === undefined) return nothingToResume();
  const { deliveredLoops } = call.parts;
  const { user } = call.access;
  const onWhole = (loop: number): void => deliveredLoops.sentWhole(ref.id, user, loop, true);
  return await withStream(call, { ref, format, onWhole }, async (stream, live) => {
    await live.refresh();
    const state = live.session.current();
    const { loop } = state.reActContext;
    const isBehind = loop > 0 && deliveredLoops.mayBeBehind(ref.id, user, loop);
    if (!isBehind && !isResumable(state, live.stream.questions)) return false;
    stream.begin({ type: "replay" });
    return true;
  });
};
