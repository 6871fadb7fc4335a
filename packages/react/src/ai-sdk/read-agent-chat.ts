import type { UIMessage } from "ai";
import { AgentChatError } from "./agent-chat-error.ts";
import { request, type AgentChatAddress } from "./chat-requests.ts";

/** A chat as the server has it. */
export interface StoredChat<Message extends UIMessage = UIMessage> {
  /** The id of its session; null before its first message. */
  readonly session: string | null;
  /** What a page shows first. */
  readonly messages: Message[];
}

/**
 * Reads a chat before a page shows it. Rejects with an `AgentChatError` if the server refuses or something else answers, and with
 * the error of `fetch` if nothing does.
 */
export async function readAgentChat<Message extends UIMessage = UIMessage>(
  address: AgentChatAddress,
): Promise<StoredChat<Message>> {
  const url = `${address.api}/${encodeURIComponent(address.id)}`;
  const response = await request(address, url);
  const chat: unknown = await response.json().catch(() => undefined);
  if (!isChat<Message>(chat))
    throw new AgentChatError(response.status, { detail: `What ${url} has answered is not a chat.` });
  return chat;
}

/** The types of the messages are those that the page expects. */
const isChat = <Message extends UIMessage>(value: unknown): value is StoredChat<Message> =>
  typeof value === "object" && value !== null && "messages" in value && Array.isArray(value.messages);
