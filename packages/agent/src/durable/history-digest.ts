import type { AgentInput } from "@moora/agent-core-state-machine";
import { digestOf } from "@moora/event-log";
import { canonicalJson } from "./canonical-json.ts";

/**
 * The digest by which two holders of a session recognize that their histories end with the same record: that of the input of
 * the last record, or "" before the first one. Servers and readers of every release have to agree on it.
 */
export const historyDigest = (last: AgentInput | undefined): string =>
  last === undefined ? "" : digestOf(canonicalJson(last));
