export type { LlmCallOptions, LlmCaller, LlmChunk } from "./caller.ts";
export { LlmOptionError } from "./llm-option-error.ts";
export type { Json, JsonObject } from "./json.ts";
export {
  addUsage,
  noUsage,
  type LlmFailure,
  type LlmFailureKind,
  type LlmFinish,
  type LlmOutcome,
  type LlmUsage,
} from "./outcome.ts";
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
