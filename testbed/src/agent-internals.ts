/** Parts of `@moora/agent` that it does not export, for tests and benchmarks that write or compare records themselves. */
export { initialStateOf } from "../../packages/agent/src/define-agent.ts";
export {
  headerOf,
  headerToState,
  headerToText,
  textToHeader,
} from "../../packages/agent/src/durable/session-header.ts";
export { inputToRecord, recordToInput } from "../../packages/agent/src/durable/session-record.ts";
export { comparableState } from "../../packages/agent/src/time-travel/volatile-fields.ts";
