import { useChat, type UseChatHelpers } from "@ai-sdk/react";
import type { ChatInit, UIMessage } from "ai";
import { useRef } from "react";
import { ChatPage } from "./chat-page.ts";
import { transportTo, type AgentChatAddress } from "./chat-requests.ts";
import { PendingAnswers } from "./pending-answers.ts";

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
 * The chat of an agent of a server, with what `useChat` returns. It continues an answer that is being written, posts each answer of
 * the user at once and once, and shows what became of questions that were decided elsewhere. `error` is an `AgentChatError` where a
 * request was refused.
 */
export function useAgentChat<Message extends UIMessage = UIMessage>(
  options: AgentChatOptions<Message>,
): UseChatHelpers<Message> {
  const { onFinish, ...others } = options;
  const answers = useRef(new PendingAnswers()).current;
  const page = new ChatPage<Message>(options, answers, () => chat);
  const chat: UseChatHelpers<Message> = useChat<Message>({
    ...others,
    resume: true,
    transport: transportTo(options, {
      posts: (posted, messages) => answers.begin(posted, messages),
      reads: (isReading) => void (answers.isReading = isReading),
    }),
    sendAutomaticallyWhen: ({ messages }) => page.posts(messages),
    onFinish: (end) => {
      page.ended(end.messages, end);
      onFinish?.(end);
    },
  });
  const { addToolApprovalResponse, addToolOutput } = chat;
  return {
    ...chat,
    addToolApprovalResponse: (answer) => page.give(answer.id, () => addToolApprovalResponse(answer)),
    addToolOutput: (answer) => page.give(answer.toolCallId, () => addToolOutput(answer)),
  };
}
