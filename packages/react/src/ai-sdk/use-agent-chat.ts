import { useChat, type UseChatHelpers } from "@ai-sdk/react";
import type { UIMessage } from "ai";
import { useEffect, useMemo } from "react";
import { ChatPage } from "./chat-page.ts";
import type { AgentChatOptions } from "./chat-requests.ts";

/**
 * The chat of an agent of a server, with what `useChat` returns. It continues an answer that is being written, posts each answer of
 * the user at once and once, and shows what became of questions that were decided elsewhere. `error` is an `AgentChatError` where a
 * request was refused.
 */
export function useAgentChat<Message extends UIMessage = UIMessage>(
  options: AgentChatOptions<Message>,
): UseChatHelpers<Message> {
  const { api, id, throttle } = options;
  // Another id, or that of another agent, is another chat: what is given to one never reaches the other.
  const page = useMemo(() => new ChatPage<Message>(options), [api, id]);
  page.options = options;
  // React may run an effect twice, and leaves the page between: `resume` continues it then.
  useEffect(() => {
    page.isLeft = false;
    return () => {
      page.isLeft = true;
      void page.chat.stop();
    };
  }, [page]);
  const chat = useChat<Message>({
    chat: page.chat,
    resume: true,
    ...(throttle === undefined ? {} : { throttle }),
  });
  const { addToolApprovalResponse, addToolOutput } = page.chat;
  return {
    ...chat,
    addToolApprovalResponse: (answer) => page.give(answer.id, () => addToolApprovalResponse(answer)),
    addToolOutput: (answer) => page.give(answer.toolCallId, () => addToolOutput(answer)),
  };
}
