/** What an adapter between the port and a provider is made of. See "Writing an adapter" in the README. */
export { answerInstruction, withAnswerInstruction } from "./answer-instruction.ts";
export { chunkFeed } from "./chunk-feed.ts";
export type { ChunkFeed } from "./chunk-feed.ts";
export { logprobsToConfidence } from "./confidence.ts";
export type { ConnectionOptions } from "./connection.ts";
export { environmentVariable } from "./environment.ts";
export { failedOutcome, failureOf, redactedFailureOf, withWarnings } from "./failure.ts";
export type { FailureOf } from "./failure.ts";
export { errorToFailure, faultToFailure } from "./fault-to-failure.ts";
export type { FailureContext } from "./fault-to-failure.ts";
export { fileToFallbackText, fileToText, fileToUrl } from "./file-to-text.ts";
export { defined, fieldsOf, isJsonObject, textToJson, withWellFormedText } from "./json.ts";
export { loadSdk } from "./load-sdk.ts";
export { normalizeRequest, placeholders } from "./normalized-request.ts";
export type {
  NormalizedCall,
  NormalizedMessage,
  NormalizedPart,
  NormalizedRequest,
  NormalizeOptions,
} from "./normalized-request.ts";
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
export { retryAfterMs } from "./retry-after.ts";
export type { HeaderLookup } from "./retry-after.ts";
export type { BrokenStream, RefusedResponse, StreamFault } from "./stream-fault.ts";
export { readStream } from "./stream-guard.ts";
export type { StreamLimits, Wire } from "./stream-guard.ts";
export { strictSchema } from "./strict-schema.ts";
export type { StrictRules } from "./strict-schema.ts";
export { unknownSettingWarnings } from "./unknown-settings.ts";
export { commonIdFormat, wireIds, wireNames } from "./wire-ids.ts";
export type { IdFormat } from "./wire-ids.ts";
