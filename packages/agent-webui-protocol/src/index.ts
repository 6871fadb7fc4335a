export type { Immutable, Json } from "./immutable.ts";
export { chatMessageSchema, chatPartSchema, chatViewSchema } from "./chat-view.ts";
export type { ChatMessage, ChatPart, ChatView } from "./chat-view.ts";
export { chunkEventSchema } from "./chunk-event.ts";
export type { ChunkEvent } from "./chunk-event.ts";
export { Draft, draftToPieces, joinPieces } from "./draft.ts";
export type { AnswerDraft, DraftPart } from "./draft.ts";
export { agentAttachmentSchema, agentMessageSchema, agentMessageStatusSchema } from "./message.ts";
export type { AgentAttachment, AgentMessage, AgentMessageStatus } from "./message.ts";
export type { Piece, Progress, TextPiece } from "./piece.ts";
export { chunkToProgress, isProgress, progressToChunk } from "./progress-chunk.ts";
export { messageIdToPostId, postIdOf, postIdToMessageId } from "./post-ids.ts";
export type { PostIdentity } from "./post-ids.ts";
export {
  cancelBodySchema,
  dataBodySchema,
  dataOperationSchema,
  decisionBodySchema,
  decisionSchema,
  emptyBodySchema,
  forkBodySchema,
  inputEventSchema,
  maxDataOperations,
  messageBodySchema,
  pauseBodySchema,
  scheduleBodySchema,
  unscheduleBodySchema,
  problemSchema,
  protocolVersion,
  receiptSchema,
  sessionPageSchema,
  sessionSummarySchema,
  sessionViewSchema,
} from "./session-protocol.ts";
export type {
  CancelBody,
  DataBody,
  DataOperation,
  DecisionBody,
  ForkBody,
  InputEvent,
  MessageBody,
  PauseBody,
  ScheduleBody,
  UnscheduleBody,
  PostReceipt,
  Problem,
  SessionPage,
  SessionSummary,
} from "./session-protocol.ts";
export { chunkToQuestion, questionKey } from "./sub-agent-question.ts";
export type { SubAgentQuestion } from "./sub-agent-question.ts";
