import { canonicalJson, type DurableSession } from "@moora/agent";
import { digestOf } from "@moora/event-log";

/** Distinguishes a session from an earlier one with the same id that was removed. */
export const incarnationOf = ({ header }: DurableSession<unknown>): string => header.incarnation ?? "";

/** The digest of the input of a record, by which a reader recognizes the history that it has; "" before the first record. */
export async function historyMark(session: DurableSession<unknown>, seq: number): Promise<string> {
  if (seq === 0) return "";
  const [logged] = await session.history(seq - 1);
  return logged === undefined ? "" : digestOf(canonicalJson(logged.input));
}
