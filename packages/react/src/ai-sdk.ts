export { AgentChatError } from "./ai-sdk/agent-chat-error.ts";
export type { AgentChatAddress } from "./ai-sdk/chat-requests.ts";
export { readAgentChat } from "./ai-sdk/read-agent-chat.ts";
export type { StoredChat } from "./ai-sdk/read-agent-chat.ts";
export { useAgentChat } from "./ai-sdk/use-agent-chat.ts";
export type { AgentChatOptions } from "./ai-sdk/chat-requests.ts";
