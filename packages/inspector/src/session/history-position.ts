import { historyDigest } from "@moora/agent/internal";
import type { SessionHistory } from "./session-history.ts";

/** The last record of a session, and what distinguishes its history from another one of the same id, as a server compares it. */
export interface HistoryPosition {
  readonly seq: number;
  readonly incarnation: string;
  readonly digest: string;
}

/** The position of the last record of a history. */
export function historyPosition({ header, inputs }: SessionHistory): HistoryPosition {
  return {
    seq: inputs.length,
    incarnation: header.incarnation ?? "",
    digest: historyDigest(inputs.at(-1)),
  };
}
