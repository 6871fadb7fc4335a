/** A page with `useAgentChat`. */
import { readAgentChat, useAgentChat } from "@moora/react/ai-sdk";
import { showChatWith } from "@moora/testbed/server/chat-page";

const api = "/agents/helper/chat";

showChatWith({
  readChat: (id) => readAgentChat({ api, id }),
  useAgentChat: (id, messages) => useAgentChat({ api, id, messages }),
});
