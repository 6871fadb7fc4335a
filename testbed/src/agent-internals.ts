/** Parts of `@moora/agent` that are not exported, for tests and benchmarks that write or compare records. */
export { initialStateOf } from "../../packages/agent/src/define-agent.ts";
export {
  headerOf,
  headerToState,
  headerToText,
  textToHeader,
} from "../../packages/agent/src/durable/session-header.ts";
export { inputToRecord, recordToInput } from "../../packages/agent/src/durable/session-record.ts";
export { comparableState } from "../../packages/agent/src/time-travel/volatile-fields.ts";
