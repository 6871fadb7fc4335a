import { canonicalJson } from "@moora/agent";
import { digestOf } from "@moora/event-log";
import type { SessionHistory } from "./session-history.ts";

/** The last record of a session, and what distinguishes its history from another one of the same id, as a server compares it. */
export interface HistoryMark {
  readonly seq: number;
  readonly incarnation: string;
  readonly digest: string;
}

/** The mark of the last record of a history. */
export function historyMark({ header, inputs }: SessionHistory): HistoryMark {
  const last = inputs.at(-1);
  return {
    seq: inputs.length,
    incarnation: header.incarnation ?? "",
    digest: last === undefined ? "" : digestOf(canonicalJson(last)),
  };
}
