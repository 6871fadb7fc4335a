import type { AgentAttachment, UserMessageInput } from "@moora/agent-core-state-machine";

/** What a user says: text, or text with files by reference. */
export type UserContent =
  | string
  | { readonly content: string; readonly attachments?: readonly AgentAttachment[] };

/** A new id, of 96 random bits: it is data of an input, and decides nothing. */
export function randomId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `${prefix}_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The input for what a user says. Text is made well-formed: half a character that a host cut is replaced. */
export function userMessage(
  said: UserContent,
  { messageId = randomId("user"), timestamp = Date.now() }: { messageId?: string; timestamp?: number } = {},
): UserMessageInput {
  const { content, attachments } =
    typeof said === "string" ? { content: said, attachments: undefined } : said;
  return {
    type: "user-message-received",
    messageId,
    content: content.toWellFormed(),
    ...(attachments === undefined ? {} : { attachments }),
    timestamp,
  };
}
