import { DefaultChatTransport, type ChatInit, type ChatTransport, type UIMessage } from "ai";
import { AgentChatError } from "./agent-chat-error.ts";
import { isOfAssistant } from "./answers.ts";

/**
 * A chat, and what `useChat` takes beside it. As there, `messages`, the schemas and `generateId` are those of the first rendering
 * with an address, and everything else is that of the newest one.
 */
export interface AgentChatOptions<Message extends UIMessage = UIMessage>
  extends
    AgentChatAddress,
    Omit<
      ChatInit<Message>,
      "id" | "messages" | "transport" | "sendAutomaticallyWhen" | "experimental_queue"
    > {
  /** The messages of the chat, which `readAgentChat` has read; `[]` for a new one. */
  readonly messages: Message[];
  /** How long changes of the messages may wait until they are rendered, in milliseconds. */
  readonly throttle?: number;
}

/** Where a chat is. */
export interface AgentChatAddress {
  /** The address of the chats of an agent, such as `/agents/helper/chat`. */
  readonly api: string;
  /** The id that the page has given to the chat, or that of a session. */
  readonly id: string;
  /** Makes the requests, for example with a header or credentials. By default the `fetch` of the page. */
  readonly fetch?: typeof globalThis.fetch;
  /** After how many milliseconds without a byte a stream counts as cut off. Default: 45,000; the server sends a byte every 15 seconds. */
  readonly streamIdleMs?: number;
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

/** The posts and streams of a chat. Calls back with each message that is posted. */
export const transportTo = <Message extends UIMessage>(
  address: () => AgentChatAddress,
  onPost: (posted: UIMessage | undefined, messages: readonly UIMessage[]) => void,
): ChatTransport<Message> =>
  new DefaultChatTransport<Message>({
    api: address().api,
    fetch: (...given) => requestStream(address(), ...given),
    prepareSendMessagesRequest: ({ id, messages, messageId, trigger }) => {
      const newest = messages.findLast(({ role }) => trigger === "submit-message" || role === "user");
      const posted = messages.find((message) => message.id === messageId) ?? newest;
      onPost(posted, messages);
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
  if (isStream && response.body !== null)
    return new Response(wholeStream(response.body, address.streamIdleMs), response);
  if (response.status === 204 && init?.method !== "POST") return response;
  const detail = `What ${url instanceof Request ? url.url : String(url)} has answered is not the stream of a chat.`;
  throw new AgentChatError(response.status, { detail });
}

/** The last chunk of a stream. One that ends without it was cut off, also where a proxy has ended the response in order. */
const lastChunk = "data: [DONE]";

/** A stream that fails if it ends before its last chunk, or is silent for too long. */
function wholeStream(body: ReadableStream<Uint8Array>, idleMs = 45_000): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let end = "";
  return new ReadableStream({
    async pull(controller) {
      // What is canceled ends before its last chunk.
      const timer = setTimeout(() => void reader.cancel().catch(() => undefined), idleMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (!done) {
        end = (end + decoder.decode(value, { stream: true })).slice(-2 * lastChunk.length);
        controller.enqueue(value);
      } else if (end.trimEnd().endsWith(lastChunk)) controller.close();
      // The AI SDK takes an error with this word for a lost connection, and resumes when the page is shown again.
      else controller.error(new TypeError("The network connection was lost before the end of the answer."));
    },
    cancel: (reason) => reader.cancel(reason),
  });
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
