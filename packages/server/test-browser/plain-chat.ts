/// <reference lib="dom" />
/** A page with `useChat`, its default transport as it is, and the least that the documentation says. */
import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from "ai";
import { showChatWith } from "@moora/testbed/server/chat-page";

const api = "/agents/helper/chat";

showChatWith({
  async readChat(id) {
    return (await (await fetch(`${api}/${id}`)).json()) as { messages: UIMessage[] };
  },
  useAgentChat: (id, messages) =>
    useChat({
      id,
      messages,
      resume: true,
      transport: new DefaultChatTransport({ api }),
      sendAutomaticallyWhen: ({ messages: given }) =>
        lastAssistantMessageIsCompleteWithApprovalResponses({
          messages: given.filter(({ role }) => role === "assistant"),
        }),
    }),
});
