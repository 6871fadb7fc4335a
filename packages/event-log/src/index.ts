export { blobUrl, blobUrlsIn, maxBlobLength } from "./blobs.ts";
export type {
  BlobStore,
  DisposableLog,
  DueQuery,
  DueSession,
  EventLog,
  Lease,
  LeaseClaim,
  LiveChannel,
  LogInfo,
  LogInspection,
  LogNotice,
  LogRecord,
  MaybePromise,
  PageQuery,
  SessionLog,
  Snapshot,
} from "./port.ts";
export type { DisposableMemoryStore, Embed, Memory, MemoryQuery, MemoryStore } from "./memory-store.ts";
export { maxLiveTextLength } from "./live-topics.ts";
export { sessionsCalledBy, sessionsOf } from "./list-sessions.ts";
export { LogError } from "./log-error.ts";
export type { LogErrorCode } from "./log-error.ts";
export { digestOf, recordDigest } from "./digest.ts";
export { chainStart, checkedChain, recordAfter } from "./chain.ts";
export type { ChainHead } from "./chain.ts";
export { maxIdLength, maxRecordLength } from "./validation.ts";
export { memoryLog, MemoryStorage } from "./memory.ts";
export type { MemoryGeneration } from "./memory-generation.ts";
