import type { ControlOf } from "../control/control.ts";
import { insertAnswer, streamedMessage } from "../control/streamed-message.ts";
import { planKey } from "../keys.ts";
import { messagePosition } from "../collections/state-lists.ts";
import type { AgentState } from "../state.ts";
import type { LlmMessageCompleteInput, LlmMessageStartedInput } from "../input.ts";
import type { IgnoredReason, InputHandler } from "./input-handler.ts";

/** The current `Planning` state, or the reason why an input does not apply to it. A given `key` must be that of the call. */
export function openPlan(
  { reActContext: context }: AgentState,
  key: string | undefined,
): IgnoredReason | ControlOf<"Planning"> {
  const { control } = context;
  if (control.type !== "Planning") return "not-planning";
  if (key !== undefined && key !== planKey(context, control)) return "wrong-key";
  return control.retryAt === null ? control : "waiting";
}

export const llmMessageStarted: InputHandler<LlmMessageStartedInput> = (
  state,
  { key, messageId, timestamp },
) => {
  const plan = openPlan(state, key);
  if (typeof plan === "string") return plan;
  if (plan.messageId !== null) return "already-started";
  if (messagePosition(state, messageId) >= 0) return "duplicate-id";
  return (edit) => {
    insertAnswer(edit, {
      id: messageId,
      role: "assistant",
      content: "",
      receivedAt: timestamp,
      updatedAt: timestamp,
      streaming: true,
    });
    edit.setContext({ control: { ...plan, messageId } });
  };
};

export const llmMessageCompleted: InputHandler<LlmMessageCompleteInput> = (
  state,
  { key, messageId, content, timestamp },
) => {
  const plan = openPlan(state, key);
  if (typeof plan === "string") return plan;
  if (plan.messageId !== messageId) return "wrong-message";
  const open = streamedMessage(state);
  if (open?.message.streaming !== true) return "already-started";
  return (edit) =>
    edit.putMessage(open.index, { ...open.message, content, streaming: false, updatedAt: timestamp });
};

/** Why the message id of an observation does not apply: it must be that of the open message, or new. */
export function ignoredReasonOfMessage(
  state: AgentState,
  { messageId: open }: ControlOf<"Planning">,
  messageId: string | undefined,
): IgnoredReason | undefined {
  if (messageId === undefined) return undefined;
  if (open !== null) return open === messageId ? undefined : "wrong-message";
  return messagePosition(state, messageId) >= 0 ? "duplicate-id" : undefined;
}
