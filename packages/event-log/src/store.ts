/** Helpers for stores that implement `EventLog` and `SessionLog`. Applications do not need them. */
export {
  conflict,
  logClosed,
  logExists,
  logRemoved,
  maxChangesDigestLength,
  readStart,
  validateAppend,
  validHeader,
  validId,
} from "./validation.ts";
export { isPrefix, maxMemories, memoriesIn, rowToMemory, rowToVector } from "./memory-store.ts";
export type { MemoryRows } from "./memory-store.ts";
export { blobsOf, checkedBlob, digestInUrl, urlToStore } from "./blobs.ts";
export type { StoredBytes } from "./blobs.ts";
export { optionForms, validateOptions } from "./validate-options.ts";
export type { OptionForm, OptionForms } from "./validate-options.ts";
export { checkedTail, copyRecords, follows, inspectChain, logCorrupt } from "./chain.ts";
export { checkInTurns, inspectInTurns, nextTurn, readInTurns, readParts } from "./in-turns.ts";
export { afterKeysOf, callerToKey, headerToKeys, userToKey } from "./header-fields.ts";
export { callsOf } from "./list-sessions.ts";
export { leaseAfter } from "./lease.ts";
export { HeadWatch } from "./head-watch.ts";
export type { HeadWatchOptions } from "./head-watch.ts";
export { LiveTopics } from "./live-topics.ts";
export { keepStop, Listeners } from "./listeners.ts";
export type { AppendNotice } from "./listeners.ts";
export { rowToRecord, rowToSnapshot, sortById } from "./rows.ts";
export { SerialQueue } from "./serial-queue.ts";
export { SqlSession } from "./sqlite/session.ts";
export type { PrefixCheck, SqlGeneration, SqlParts } from "./sqlite/session.ts";
export type { RowTexts, SqlDatabase, SqlRow, SqlValue, TextOwner } from "./sqlite/sql-database.ts";
export { isUndamaged, snapshotSeal, soundSnapshot } from "./snapshot-seal.ts";
export { andThen } from "./maybe-promise.ts";
export { warn } from "./warn.ts";
export { withSessions } from "./with-sessions.ts";
