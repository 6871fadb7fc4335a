import type { UIMessage } from "ai";

/** Where a chat is. */
export interface AgentChatAddress {
  /** The address of the chats of an agent, such as `/agents/helper/chat`. */
  readonly api: string;
  /** The id that the page has given to the chat, or that of a session. */
  readonly id: string;
  /** Makes the requests, for example with a header or credentials. By default the `fetch` of the page. */
  readonly fetch?: typeof globalThis.fetch;
}

/** A chat as the server has it. */
export interface StoredChat<Message extends UIMessage = UIMessage> {
  /** The id of its session; null before its first message. */
  readonly session: string | null;
  /** What a page shows first. */
  readonly messages: Message[];
}

/** The server has refused to show a chat. */
export class AgentChatError extends Error {
  override readonly name = "AgentChatError";
  /** The status of the response. */
  readonly status: number;
  /** The `code` of the problem that the server has answered with; undefined if something before it has answered. */
  readonly code: string | undefined;

  constructor(status: number, problem: { readonly code?: unknown; readonly detail?: unknown }) {
    const { code, detail } = problem;
    super(`The chat cannot be read: ${typeof detail === "string" ? detail : `status ${status}.`}`);
    this.status = status;
    this.code = typeof code === "string" ? code : undefined;
  }
}

/**
 * Reads a chat before a page shows it. Rejects with an `AgentChatError` if the server refuses, and with the error of `fetch` if
 * it cannot be reached.
 */
export async function readAgentChat<Message extends UIMessage = UIMessage>({
  api,
  id,
  fetch = globalThis.fetch,
}: AgentChatAddress): Promise<StoredChat<Message>> {
  const response = await fetch(`${api}/${encodeURIComponent(id)}`);
  // The types of the messages are those that the page expects.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  if (response.ok) return (await response.json()) as StoredChat<Message>;
  const problem: unknown = await response.json().catch(() => undefined);
  throw new AgentChatError(response.status, typeof problem === "object" && problem !== null ? problem : {});
}
