import type { AgentAttachment, AgentState, DurableSession, Receipt } from "@moora/agent";
import type { RequestId } from "./request-ids.ts";

/** A post at the moment at which a `PostLedger` makes it. */
export interface MadePost {
  readonly session: DurableSession<unknown>;
  /** Whether the log contains this post. Called when the post is applied: another process may have recorded it meanwhile. */
  readonly isRecorded: () => boolean;
  readonly id: RequestId;
  readonly timestamp: number;
}

/** Dispatches an input unless the log contains it: a repetition would apply to what has happened since, such as the next loop. */
export const dispatchOnce = async (
  { session, isRecorded, id: { text: requestId }, timestamp }: MadePost,
  input: object | ((state: AgentState) => object),
): Promise<Receipt> =>
  await session.dispatch((state: AgentState) =>
    isRecorded()
      ? undefined
      : { ...(typeof input === "function" ? input(state) : input), requestId, timestamp },
  );

/** Dispatches a message of the user. A repetition has the id of a message that the session has. */
export const dispatchMessage = async (
  { session, id: { messageId }, timestamp }: MadePost,
  message: { readonly content: string; readonly attachments?: readonly AgentAttachment[] | undefined },
): Promise<Receipt> => {
  const { content, attachments } = message;
  const files = attachments === undefined ? {} : { attachments };
  return await session.dispatch({ type: "user-message-received", messageId, content, ...files, timestamp });
};

/** Cancels the running loop. The input contains the text that was streamed so far. */
export const dispatchCancel = async (post: MadePost, reason: string | undefined): Promise<Receipt> => {
  const partial = post.session.current().streaming?.text.toWellFormed() ?? "";
  return await dispatchOnce(post, {
    type: "re-act-cancelled",
    ...(reason === undefined ? {} : { reason }),
    ...(partial === "" ? {} : { partial }),
  });
};
