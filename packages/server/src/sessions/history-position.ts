import type { DurableSession } from "@moora/agent";
import { historyDigest } from "@moora/agent/internal";

/** Distinguishes a session from an earlier one with the same id that was removed. */
export const incarnationOf = ({ header }: DurableSession<unknown>): string => header.incarnation ?? "";

/** The digest of the history up to a record, by which a reader recognizes the history that it has. */
export async function digestAt(session: DurableSession<unknown>, seq: number): Promise<string> {
  if (seq === 0) return "";
  const [logged] = await session.history(seq - 1);
  return historyDigest(logged?.input);
}
