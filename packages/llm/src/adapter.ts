/** The parts of an adapter between the port and a provider. See "Writing an adapter" in the README. */
export { OutcomeBuilder, type AnswerEnd } from "./outcome-builder.ts";
export { answerInstruction, withAnswerInstruction } from "./answer-instruction.ts";
export {
  checkOptions,
  connectionForms,
  oneOf,
  optionForms,
  optionsWithModel,
  required,
  type OptionForm,
  type OptionForms,
} from "./check-options.ts";
export { chunkFeed, type ChunkFeed, type PartKey } from "./chunk-feed.ts";
export { resolveApiKey, type ApiKey, type ConnectionOptions } from "./connection.ts";
export { environmentVariable } from "./environment.ts";
export { failedOutcome, failureOf, redactedFailureOf, withWarnings, type FailureOf } from "./failure.ts";
export { errorToFailure, faultToFailure, type FailureContext } from "./fault-to-failure.ts";
export { fileToFallbackText, fileToText, fileToUrl, mediaTypeOf, urlToFile } from "./file-to-text.ts";
export { defined, fieldsOf, isJsonObject, textToJson, withWellFormedText } from "./json.ts";
export { commonFiles, commonImages, type FileLimits, type FileRules } from "./known-file.ts";
export { loadSdk } from "./load-sdk.ts";
export {
  filesOfTurn,
  hasContent,
  normalizeRequest,
  placeholders,
  type Half,
  type NormalizedCall,
  type NormalizedMessage,
  type NormalizedPart,
  type NormalizedRequest,
  type NormalizeOptions,
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
export { logprobsToConfidence } from "./confidence.ts";
export type { UsageFields } from "./reported-usage.ts";
export { callProvider } from "./provider-call.ts";
export { callerOf, ProviderCaller, sdkClientOptions, type SdkClientOptions } from "./provider-caller.ts";
export { providerFields, withProviderFields } from "./provider-fields.ts";
export { providerToolsOf } from "./request.ts";
export type { ErrorKind, ErrorRows } from "./provider-errors.ts";
export { retryAfterMs, type HeaderLookup } from "./retry-after.ts";
export {
  StreamFaultError,
  type BrokenStream,
  type RefusedResponse,
  type StreamFault,
} from "./stream-fault.ts";
export { readStream, type StreamLimits, type Wire } from "./stream-guard.ts";
export { sdkErrorBody } from "./sdk-error.ts";
export { convertSchema, type ConvertedSchema } from "./schema/convert-schema.ts";
export {
  aiSdkAnswer,
  aiSdkTool,
  anthropicAnswer,
  anthropicTool,
  chatAnswer,
  chatTool,
  openAiOpen,
  openAiStrict,
  schemaDialects,
  type SchemaDialect,
  type SchemaSize,
} from "./schema/schema-dialects.ts";
export { unknownSettingWarnings, unsupportedWarning } from "./warnings.ts";
export { commonIdFormat, wireIds, wireNames, type IdFormat } from "./wire-ids.ts";
