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
