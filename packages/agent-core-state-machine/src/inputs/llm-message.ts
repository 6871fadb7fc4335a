import { insertAnswer, streamedMessage } from "../control/streamed-message.ts";
import { planKey } from "../keys.ts";
import { messagePosition } from "../message-index.ts";
import type { AgentState } from "../state.ts";
import type { LlmMessageCompleteInput, LlmMessageStartedInput } from "../input.ts";
import type { IgnoredReason, InputHandler } from "./input-handler.ts";

/** Whether the model is at work on a plan, and `key`, if there is one, is this work's. */
export function ignoredReasonOfModelCall(
  { reActContext: context }: AgentState,
  key: string | undefined,
): IgnoredReason | undefined {
  const { control } = context;
  if (control.type !== "Planning") return "not-planning";
  if (key !== undefined && key !== planKey(context, control)) return "wrong-key";
  return control.retryAt === null ? undefined : "waiting";
}

const openMessageId = ({ reActContext: { control } }: AgentState): string | null =>
  control.type === "Planning" ? control.messageId : null;

export const llmMessageStarted: InputHandler<LlmMessageStartedInput> = {
  whyNot(state, { key, messageId }) {
    const reason = ignoredReasonOfModelCall(state, key);
    if (reason !== undefined) return reason;
    if (openMessageId(state) !== null) return "already-started";
    return messagePosition(state.messages, messageId) >= 0 ? "duplicate-id" : undefined;
  },
  apply(edit, { messageId, timestamp }) {
    const { control } = edit.reActContext;
    if (control.type !== "Planning") return;
    insertAnswer(edit, {
      id: messageId,
      role: "assistant",
      content: "",
      receivedAt: timestamp,
      updatedAt: timestamp,
      streaming: true,
    });
    edit.setContext({ control: { ...control, messageId } });
  },
};

export const llmMessageCompleted: InputHandler<LlmMessageCompleteInput> = {
  whyNot(state, { key, messageId }) {
    const reason = ignoredReasonOfModelCall(state, key);
    if (reason !== undefined) return reason;
    if (openMessageId(state) !== messageId) return "wrong-message";
    const message = state.messages[messagePosition(state.messages, messageId)];
    return message?.streaming === true ? undefined : "already-started";
  },
  apply(edit, { content, timestamp }) {
    const open = streamedMessage(edit);
    if (open === undefined) return;
    edit.putMessage(open.index, { ...open.message, content, streaming: false, updatedAt: timestamp });
  },
};

/** For an observation that names its message: it must be the open one, or new. */
export function ignoredReasonOfMessage(
  state: AgentState,
  messageId: string | undefined,
): IgnoredReason | undefined {
  if (messageId === undefined) return undefined;
  const open = openMessageId(state);
  if (open !== null) return open === messageId ? undefined : "wrong-message";
  return messagePosition(state.messages, messageId) >= 0 ? "duplicate-id" : undefined;
}
