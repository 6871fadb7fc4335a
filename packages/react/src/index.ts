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
export type { ToolCallOf } from "./tool-types.ts";
export type { JsonOf, OtherToolName, QuestionOf } from "@moora/agent";
