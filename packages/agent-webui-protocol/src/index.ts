export type { Immutable, Json } from "./immutable.ts";
export { agentAttachmentSchema, agentMessageSchema, agentMessageStatusSchema } from "./message.ts";
export type { AgentAttachment, AgentMessage, AgentMessageStatus } from "./message.ts";
