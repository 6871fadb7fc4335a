import type { AgentAttachment, AgentMessage, AgentMessageStatus } from "@moora/agent-webui-protocol";
import type { StateEdit } from "../state-edit.ts";
import { messagePosition, messagesOf } from "../collections/state-lists.ts";
import type { AgentState } from "../state.ts";

/** The message into which the current model call streams; undefined if it has not started one. */
export function streamedMessage(
  state: AgentState,
): { readonly index: number; readonly message: AgentMessage } | undefined {
  const { control } = state.reActContext;
  if (control.type !== "Planning" || control.messageId === null) return undefined;
  const index = messagePosition(state, control.messageId);
  const message = index < 0 ? undefined : messagesOf(state).at(index);
  return message === undefined ? undefined : { index, message };
}

/** Ends an incomplete streamed message with the text received so far. */
export function closeStreamedMessage(edit: StateEdit, partial: string): void {
  const open = streamedMessage(edit);
  if (open === undefined || !open.message.streaming) return;
  const { index, message } = open;
  edit.putMessage(index, {
    ...message,
    content: partial,
    streaming: false,
    status: "cut",
    updatedAt: edit.timestamp,
  });
}

/** What a finished turn says, to people. */
export interface TurnContent {
  readonly text: string;
  readonly files: readonly AgentAttachment[];
}

/**
 * Writes the text and the files of a finished turn to its message. Returns the id of the message; null if there is neither a
 * text nor a file.
 */
export function completeMessage(
  edit: StateEdit,
  messageId: string | null,
  { text: content, files }: TurnContent,
  status: AgentMessageStatus | undefined,
): string | null {
  const open = streamedMessage(edit);
  const fields = {
    ...(status === undefined ? {} : { status }),
    ...(files.length === 0 ? {} : { attachments: files }),
  };
  if (open !== undefined) {
    const { index, message } = open;
    edit.putMessage(index, { ...message, ...fields, content, streaming: false, updatedAt: edit.timestamp });
    return message.id;
  }
  if (messageId === null || (content.trim() === "" && files.length === 0)) return null;
  insertAnswer(edit, {
    id: messageId,
    role: "assistant",
    content,
    receivedAt: edit.timestamp,
    updatedAt: edit.timestamp,
    streaming: false,
    ...fields,
  });
  return messageId;
}

/** Inserts an answer after the messages that its request contained, before those that arrived meanwhile. */
export function insertAnswer(edit: StateEdit, message: AgentMessage): void {
  const { control } = edit.reActContext;
  const index = control.type === "Planning" ? control.messagesSeen : messagesOf(edit).length;
  edit.insertMessage(index, message);
}
