import { isReservedId } from "../keys.ts";
import { messagePosition } from "../collections/state-lists.ts";
import type { StateEdit } from "../state-edit.ts";
import type { ContextEntry } from "../state.ts";
import { cancelLoop, isLoopRunning, openLoop } from "./loop.ts";
import type { UserMessageInput } from "../input.ts";
import type { InputHandler } from "./input-handler.ts";

export const userMessageReceived: InputHandler<UserMessageInput> = (state, input) => {
  const { messageId, content, attachments = [] } = input;
  const isRunning = isLoopRunning(state);
  if (content.trim() === "" && attachments.length === 0) return "blank";
  if (isReservedId(messageId)) return "reserved-id";
  if (messagePosition(state, messageId) >= 0) return "duplicate-id";
  if (isRunning && state.config.interjection === "reject") return "busy";
  return (edit) => {
    if (isRunning && edit.config.interjection === "restart") cancelLoop(edit, "The user wrote again.", "");
    addMessage(edit, input);
    const entry: ContextEntry = { type: "message", messageId };
    if (isLoopRunning(edit)) edit.addQueued(entry);
    else openLoop(edit, entry);
  };
};

function addMessage(edit: StateEdit, { messageId, content, attachments, timestamp }: UserMessageInput): void {
  edit.addMessage({
    id: messageId,
    role: "user",
    content,
    receivedAt: timestamp,
    updatedAt: timestamp,
    streaming: false,
    ...(attachments === undefined ? {} : { attachments }),
  });
}
