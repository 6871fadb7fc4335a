import { isReservedId } from "../keys.ts";
import { messagePosition } from "../message-index.ts";
import type { ContextEntry } from "../state.ts";
import { cancelLoop, isLoopRunning, openLoop } from "./loop.ts";
import type { UserMessageInput } from "../input.ts";
import type { InputHandler } from "./input-handler.ts";

export const userMessageReceived: InputHandler<UserMessageInput> = {
  whyNot(state, { messageId, content, attachments }) {
    if (content.trim() === "" && (attachments ?? []).length === 0) return "blank";
    if (isReservedId(messageId)) return "reserved-id";
    if (messagePosition(state.messages, messageId) >= 0) return "duplicate-id";
    return state.config.interjection === "reject" && isLoopRunning(state) ? "busy" : undefined;
  },
  apply(edit, { messageId, content, attachments, timestamp }) {
    const running = isLoopRunning(edit);
    if (running && edit.config.interjection === "restart") cancelLoop(edit, "The user wrote again.", "");
    edit.putMessage(edit.messages.length, {
      id: messageId,
      role: "user",
      content,
      receivedAt: timestamp,
      updatedAt: timestamp,
      streaming: false,
      ...(attachments === undefined ? {} : { attachments }),
    });
    const entry: ContextEntry = { type: "message", messageId };
    if (isLoopRunning(edit)) edit.setContext({ queued: [...edit.reActContext.queued, entry] });
    else openLoop(edit, entry);
  },
};
