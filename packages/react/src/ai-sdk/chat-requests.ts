import { DefaultChatTransport, type ChatTransport, type UIMessage } from "ai";
import { AgentChatError } from "./agent-chat-error.ts";
import { isOfAssistant } from "./answers.ts";

/** Where a chat is. */
export interface AgentChatAddress {
  /** The address of the chats of an agent, such as `/agents/helper/chat`. */
  readonly api: string;
  /** The id that the page has given to the chat, or that of a session. */
  readonly id: string;
  /** Makes the requests, for example with a header or credentials. By default the `fetch` of the page. */
  readonly fetch?: typeof globalThis.fetch;
}

/** Makes a request. Rejects with an `AgentChatError` if it is refused, and with the error of `fetch` if nothing has answered. */
export async function request(
  { fetch = globalThis.fetch }: AgentChatAddress,
  ...given: Parameters<typeof globalThis.fetch>
): Promise<Response> {
  const response = await fetch(...given);
  if (response.ok) return response;
  const problem: unknown = await response.json().catch(() => undefined);
  throw new AgentChatError(response.status, typeof problem === "object" && problem !== null ? problem : {});
}

/**
 * The body of a post. Only of the message with the answers, the new one, or the one to answer once more: the server has the
 * conversation. The id of the newest answer before it says that the page shows a chat which the server has.
 */
function bodyWith(
  id: string,
  posted: UIMessage | undefined,
  messages: readonly UIMessage[],
  trigger: string,
) {
  const shown = messages.findLast((message) => isOfAssistant(message) && message !== posted);
  const known = shown === undefined ? [] : [{ ...shown, parts: [] }];
  return { id, messages: [...known, posted], trigger };
}

/** What is called for the requests of `useChat`. */
export interface RequestListener {
  /** A message is posted. */
  posts(posted: UIMessage | undefined, messages: readonly UIMessage[]): void;
  /** A request begins, or has ended without a stream. */
  reads(isReading: boolean): void;
}

/** The posts and streams of `useChat`. */
export const transportTo = <Message extends UIMessage>(
  address: AgentChatAddress,
  listener: RequestListener,
): ChatTransport<Message> =>
  new DefaultChatTransport<Message>({
    api: address.api,
    async fetch(...given) {
      listener.reads(true);
      try {
        const response = await requestStream(address, ...given);
        if (response.status === 204) listener.reads(false);
        return response;
      } catch (error) {
        listener.reads(false);
        throw error;
      }
    },
    prepareSendMessagesRequest: ({ id, messages, messageId, trigger }) => {
      const newest = messages.findLast(({ role }) => trigger === "submit-message" || role === "user");
      const posted = messages.find((message) => message.id === messageId) ?? newest;
      listener.posts(posted, messages);
      return { body: bodyWith(id, posted, messages, trigger) };
    },
  });

/** Makes a request for a stream, which only a page without an open answer does not get (204). */
async function requestStream(
  address: AgentChatAddress,
  ...[url, init]: Parameters<typeof globalThis.fetch>
): Promise<Response> {
  const response = await request(address, url, init);
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (isStream || (response.status === 204 && init?.method !== "POST")) return response;
  const detail = `What ${url instanceof Request ? url.url : String(url)} has answered is not the stream of a chat.`;
  throw new AgentChatError(response.status, { detail });
}

/** Posts the newest message of the assistant, with the answers in it, and leaves the stream that follows to others. */
export async function postAnswers(address: AgentChatAddress, messages: readonly UIMessage[]): Promise<void> {
  const body = bodyWith(address.id, messages.findLast(isOfAssistant), messages, "submit-message");
  const response = await requestStream(address, address.api, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.body?.cancel();
}
