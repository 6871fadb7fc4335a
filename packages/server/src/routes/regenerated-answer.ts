import type { UserMessage } from "../chat/chat-request.ts";
import { isResumable } from "../chat/loop-end.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { checkSameText, loopOf, postUserMessage, type ChatPost } from "./chat-posts.ts";
import type { RouteCall } from "./route.ts";

const isComplete =
  "This answer is complete. It is not written again, because the log keeps what was said. Send a new message.";

const isOlder = "Only the newest answer can be tried again. Read the chat again, and send a new message.";

/**
 * Answers a message once more. One that the session does not have is posted, a loop that has failed or was canceled is tried again, and an
 * answer that is being written, or of which the page may lack the end, is sent from its beginning. Any other answer stays as it is: it is
 * sent with an error, since the page has removed it.
 */
export async function regenerateAnswer(call: RouteCall, post: ChatPost, message: UserMessage): Promise<true> {
  const { stream, live } = post;
  const isNew = !live.session.current().messages.some(({ id }) => id === message.messageId);
  if (isNew) return await postUserMessage(call, post, message);
  checkSameText(live, message);
  const loop = await loopOf(call.parts.context, live, message.messageId);
  const isNewest = loop === undefined || loop === live.session.current().reActContext.loop;
  if (!isNewest) stream.begin({ type: "replay", loop, refusal: isOlder });
  else if (await retry(call, live)) stream.begin({ type: "replay" });
  else stream.begin({ type: "replay", refusal: isWhole(call, live) ? isComplete : undefined });
  return true;
}

/** Whether the newest answer is complete, and the user has been sent all of it. */
function isWhole({ access, parts }: RouteCall, { ref, session, stream }: LiveSession): boolean {
  const state = session.current();
  if (isResumable(state, stream.questions)) return false;
  return parts.deliveredLoops.isWhole(ref.id, access.user, state.reActContext.loop);
}

/** Tries the newest loop again. Returns whether it has failed or was canceled, so that it could. */
async function retry({ parts: { context } }: RouteCall, live: LiveSession): Promise<boolean> {
  const { control } = live.session.current().reActContext;
  if (control.type !== "Error") return false;
  const timestamp = context.clock.now();
  const { status } = await context.counters.countPost("retry", () =>
    live.post((session) => session.dispatch({ type: "loop-retried", timestamp })),
  );
  await live.refresh();
  return status === "accepted";
}
