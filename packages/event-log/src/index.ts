export type {
  EventLog,
  Lease,
  LeaseClaim,
  LogInfo,
  LogInspection,
  LogNotice,
  LogRecord,
  MaybePromise,
  SessionLog,
  Snapshot,
} from "./port.ts";
export { LogError } from "./log-error.ts";
export type { LogErrorCode } from "./log-error.ts";
export { chained, digestOf } from "./digest.ts";
export { memoryLog, MemoryStorage } from "./memory.ts";
export type { MemoryGeneration } from "./memory.ts";
// For those who write a store of their own.
export {
  validateAppend,
  validHeader,
  validId,
  conflict,
  logExists,
  logRemoved,
  maxChangesDigestLength,
  maxIdLength,
  maxRecordLength,
  readStart,
} from "./validation.ts";
export { logCorrupt, chainStart, checkedChain, follows, soundPart } from "./chain.ts";
export type { ChainHead } from "./chain.ts";
export { leaseAfter } from "./lease.ts";
export { HeadWatch } from "./head-watch.ts";
export type { HeadWatchOptions } from "./head-watch.ts";
export { Listeners } from "./listeners.ts";
export { rowToRecord, rowToSnapshot, sortedById } from "./rows.ts";
export { isUndamaged, snapshotSeal } from "./sealed-snapshot.ts";
export { warn } from "./warn.ts";
