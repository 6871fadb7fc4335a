export type { LlmCallOptions, LlmCaller, LlmChunk } from "./caller.ts";
export { cached, type CachedOptions } from "./combinators/cached.ts";
export { fallback, type FallbackOptions } from "./combinators/fallback.ts";
export { memoryLlmCache, type LlmAnswer, type LlmCache } from "./combinators/llm-cache.ts";
export { rateLimited, type RateLimits } from "./combinators/rate-limited.ts";
export type { LlmClock } from "./combinators/rate-limiter.ts";
export { recorded, type LlmRecording, type RecordingOptions } from "./combinators/recorded.ts";
export { replayed, type ReplayedLlm } from "./combinators/replayed.ts";
export { requestDigest } from "./combinators/request-digest.ts";
export { route } from "./combinators/route.ts";
export { LlmOptionError } from "./llm-option-error.ts";
export type { Json, JsonObject } from "./json.ts";
export {
  addUsage,
  noUsage,
  type LlmAnswerer,
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
