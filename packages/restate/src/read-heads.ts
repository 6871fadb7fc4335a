import type { LogHead } from "./session-messages.ts";

/** The head of a session as a text, which differs for another session with its id. */
export const headText = ({ header, seq }: Pick<LogHead, "header" | "seq">): string => `${header} ${seq}`;

/** The text for a session whose head cannot be read, although others can: its watchers read it, and report why. */
const unread = "unread";

/** Reads the heads of sessions as texts, without those that do not exist. Rejects if none can be read. */
export async function readHeads(
  headOf: (id: string) => Promise<LogHead | null>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const results = await Promise.allSettled(ids.map((id) => headOf(id)));
  const failed = results.find(({ status }) => status === "rejected");
  if (failed?.status === "rejected" && results.every(({ status }) => status === "rejected"))
    throw failed.reason;
  const heads = new Map<string, string>();
  for (const [index, id] of ids.entries()) {
    const result = results[index];
    if (result?.status === "rejected") heads.set(id, unread);
    else if (result !== undefined && result.value !== null) heads.set(id, headText(result.value));
  }
  return heads;
}
