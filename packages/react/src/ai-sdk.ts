export { AgentChatError, readAgentChat } from "./ai-sdk/read-agent-chat.ts";
export type { AgentChatAddress, StoredChat } from "./ai-sdk/read-agent-chat.ts";
export { useAgentChat } from "./ai-sdk/use-agent-chat.ts";
export type { AgentChatOptions } from "./ai-sdk/use-agent-chat.ts";
