import { useChat, type UseChatHelpers } from "@ai-sdk/react";
import { DefaultChatTransport, type ChatInit, type ChatTransport, type UIMessage } from "ai";
import { useRef } from "react";
import { answersIn, isOfAssistant, isUnfinished } from "./answers.ts";
import { readAgentChat, type AgentChatAddress } from "./read-agent-chat.ts";

/**
 * A chat, and what `useChat` takes beside it. As there, `messages`, the schemas and `generateId` are those of the first rendering
 * with an id, and everything else is that of the newest one.
 */
export interface AgentChatOptions<Message extends UIMessage = UIMessage>
  extends
    AgentChatAddress,
    Omit<
      ChatInit<Message>,
      "id" | "messages" | "transport" | "sendAutomaticallyWhen" | "experimental_queue"
    > {
  /** The messages of the chat, which `readAgentChat` has read. */
  readonly messages: Message[];
  /** How long changes of the messages may wait until they are rendered, in milliseconds. */
  readonly throttle?: number;
}

/**
 * The chat of an agent of a server, with what `useChat` returns. It continues an answer that is being written, posts the answers of
 * the user as soon as no question is open, each of them once, and shows what became of questions that were decided elsewhere.
 */
export function useAgentChat<Message extends UIMessage = UIMessage>(
  options: AgentChatOptions<Message>,
): UseChatHelpers<Message> {
  const { onFinish, ...others } = options;
  /** The answers that were sent last, so that the page does not send them again by itself. */
  const sent = useRef("");
  /** Reads what became of messages: their questions may have been decided elsewhere. `mayLack`: the page may have removed or edited others. */
  const update = async (given: readonly Message[], mayLack = false): Promise<void> => {
    const ids = new Set(given.filter(isUnfinished).map((message) => message.id));
    if (ids.size === 0 && !mayLack) return;
    const read = await readAgentChat<Message>(options).catch(() => ({ messages: [] }));
    chat.setMessages((shown) => updated(shown, read.messages, { ids, mayLack }));
  };
  const chat: UseChatHelpers<Message> = useChat<Message>({
    ...others,
    resume: true,
    transport: transportTo(options),
    // Called after each answer of the user, and at the end of each stream that was not stopped and has not failed.
    sendAutomaticallyWhen: ({ messages }) => {
      void update(messages.filter(isOfAssistant).slice(0, -1));
      const answers = answersIn(messages);
      const isNew = answers !== "" && answers !== sent.current;
      sent.current = answers;
      return isNew;
    },
    onFinish: (end) => {
      const { messages, isAbort, isError } = end;
      if (isError) sent.current = "";
      // After an error, the newest one as well: its stream was cut off, or its answer was refused and its question is open. A refused
      // regenerate() or edit has removed messages.
      if (isAbort || isError) void update(isError ? messages : messages.slice(0, -1), isError);
      onFinish?.(end);
    },
  });
  return chat;
}

/** What a page shows after the messages of these ids were read again. */
function updated<Message extends UIMessage>(
  shown: readonly Message[],
  read: readonly Message[],
  { ids, mayLack }: { readonly ids: ReadonlySet<string>; readonly mayLack: boolean },
): Message[] {
  const byId = new Map(read.map((message) => [message.id, message]));
  const current = shown.map((message) => (ids.has(message.id) ? (byId.get(message.id) ?? message) : message));
  if (!mayLack) return current;
  // An edited message was refused: those of the user are shown as the server has them.
  const own = new Map(current.filter(isOfAssistant).map((message) => [message.id, message]));
  const others = current.filter((message) => !byId.has(message.id));
  return [...read.map((message) => own.get(message.id) ?? message), ...others];
}

/**
 * Posts only the new message, the one with the answers, or the one to answer once more: the server has the conversation. The id of
 * the newest answer before it says that the page shows a chat which the server has.
 */
const transportTo = <Message extends UIMessage>({ api, fetch }: AgentChatAddress): ChatTransport<Message> =>
  new DefaultChatTransport<Message>({
    api,
    ...(fetch === undefined ? {} : { fetch }),
    prepareSendMessagesRequest: ({ id, messages, messageId, trigger }) => {
      const newest = messages.findLast(({ role }) => trigger === "submit-message" || role === "user");
      const posted = messages.find((message) => message.id === messageId) ?? newest;
      const shown = messages.findLast((message) => isOfAssistant(message) && message !== posted);
      const known = shown === undefined ? [] : [{ ...shown, parts: [] }];
      return { body: { id, messages: [...known, posted], trigger } };
    },
  });
