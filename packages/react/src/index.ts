export type {
  AnyChatSession,
  Chat,
  ChatConnection,
  ChatMessage,
  ChatPart,
  ChatPost,
  ChatSession,
  ChatStatus,
  ToolCallPart,
  ToolCallStatus,
} from "./chat.ts";
export { AgentProvider, useAgent, useAgentValue, useMessage } from "./hooks.ts";
export type { AnswerOf, DataOf } from "./hooks.ts";
export type { JsonOf, OtherToolName, ToolCallOf } from "./tool-types.ts";
