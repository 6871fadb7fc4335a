export type { Json, JsonObject } from "./json.ts";
export type {
  LlmContent,
  LlmFile,
  LlmMessage,
  LlmPart,
  LlmRequest,
  LlmSettings,
  LlmTool,
  LlmToolChoice,
  LlmToolResult,
  LlmTurn,
} from "./request.ts";
export type { LlmFailure, LlmFailureKind, LlmFinish, LlmOutcome, LlmUsage } from "./outcome.ts";
export type { LlmCallOptions, LlmCaller, LlmChunk } from "./caller.ts";
export { addUsage, noUsage } from "./outcome.ts";
export { readOutcome } from "./read-outcome.ts";

// For those who write an adapter: what every one of them needs, and needs to be the same.
export { answerInstruction, withAnswerInstruction } from "./answer-instruction.ts";
export { chunkFeed, type ChunkFeed } from "./chunk-feed.ts";
export { logprobsToConfidence } from "./confidence.ts";
export type { ConnectionOptions } from "./connection.ts";
export { environmentVariable } from "./environment.ts";
export { failed, failing, failureOf, warned, type Fail } from "./failure.ts";
export { errorToFailure, faultToFailure, type FailureContext } from "./fault-to-failure.ts";
export { fileToText, fileToUrl, fileToWords } from "./file-words.ts";
export {
  defined,
  endOfJsonString,
  fieldsOf,
  hasMoreItemsThan,
  isJsonObject,
  isWellFormed,
  textToJson,
  wellFormed,
} from "./json.ts";
export { loadSdk } from "./load-sdk.ts";
export { hostOf, originOf } from "./origin.ts";
export type {
  AnswerReader,
  BodyContext,
  Protocol,
  ReaderContext,
  WireCall,
  WireRequest,
} from "./protocol.ts";
export { callProvider } from "./provider-call.ts";
export { retryAfterMs, type HeaderLookup } from "./retry-after.ts";
export {
  fillers,
  requestToSendable,
  type Sendable,
  type SendableCall,
  type SendableMessage,
  type SendableOptions,
  type SendablePart,
} from "./sendable.ts";
export type { BrokenStream, RefusedResponse, StreamFault } from "./stream-fault.ts";
export { readStream, type StreamLimits, type Wire } from "./stream-guard.ts";
export { strictSchema, type StrictRules } from "./strict-schema.ts";
export { unknownSettings } from "./unknown-settings.ts";
export { commonDialect, wireIds, wireNames, type WireDialect } from "./wire-ids.ts";
