export type {
  EventLog,
  Lease,
  LeaseClaim,
  LogInfo,
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
export type { MemoryLife } from "./memory.ts";
// For those who write a store of their own.
export {
  checkedAppend,
  checkedHeader,
  checkedId,
  conflict,
  logExists,
  logRemoved,
  maxChangedLength,
  maxIdLength,
  maxTextLength,
  readStart,
} from "./admission.ts";
export { logCorrupt, chainStart, checkedChain, follows } from "./chain.ts";
export type { ChainHead } from "./chain.ts";
export { leaseAfter } from "./lease.ts";
export { Listeners } from "./listeners.ts";
export { snapshotSeal } from "./sealed-snapshot.ts";
