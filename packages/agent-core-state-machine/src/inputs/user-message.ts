import type { AgentMessage } from "@moora/agent-webui-protocol";
import { isReservedId } from "../keys.ts";
import { messagePosition } from "../collections/state-lists.ts";
import type { StateEdit } from "../state-edit.ts";
import type { ContextEntry } from "../state.ts";
import { cancelLoop, isLoopRunning, openLoop } from "./loop.ts";
import type { UserMessageInput } from "../input.ts";
import type { InputHandler } from "./input-handler.ts";

export const userMessageReceived: InputHandler<UserMessageInput> = (state, input) => {
  const { messageId, content, attachments = [] } = input;
  if (content.trim() === "" && attachments.length === 0) return "blank";
  if (isReservedId(messageId)) return "reserved-id";
  if (messagePosition(state, messageId) >= 0) return "duplicate-id";
  if (isLoopRunning(state) && state.config.interjection === "reject") return "busy";
  return (edit) => receiveMessage(edit, input);
};

/** A message of a user or of a schedule. */
type ReceivedMessage = Omit<UserMessageInput, "type" | "starts"> & Pick<AgentMessage, "scheduled">;

/** Adds a message. While a loop runs, it restarts the loop or waits in its queue. */
export function receiveMessage(edit: StateEdit, message: ReceivedMessage): void {
  if (isLoopRunning(edit) && edit.config.interjection === "restart")
    cancelLoop(edit, "The user wrote again.", "");
  const { messageId, timestamp, content, attachments, scheduled } = message;
  edit.addMessage({
    id: messageId,
    role: "user",
    content,
    receivedAt: timestamp,
    updatedAt: timestamp,
    streaming: false,
    ...(attachments === undefined ? {} : { attachments }),
    ...(scheduled === undefined ? {} : { scheduled }),
  });
  const entry: ContextEntry = { type: "message", messageId };
  if (isLoopRunning(edit)) edit.addQueued(entry);
  else openLoop(edit, entry);
}
