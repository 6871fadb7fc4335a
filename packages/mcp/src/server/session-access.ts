import { digestOf, LogError, type EventLog, type SessionLog } from "@moora/event-log";

/** A user of a server; undefined for the user of this machine, who may see every session of the log. */
export type User = string | undefined;

/** The beginning of the ids of a user's sessions. It shows whose they are without naming the user. */
const prefixOf = (user: User): string => (user === undefined ? "mcp-" : `mcp-${digestOf(user)}-`);

/** An id for a new session, which cannot be guessed. */
export const newSessionId = (user: User): string => `${prefixOf(user)}${globalThis.crypto.randomUUID()}`;

/** Whether a user may see and continue a session. */
export const maySee = (user: User, id: string): boolean =>
  user === undefined || id.startsWith(prefixOf(user));

/** Opens the log of a session that a user may see; undefined if there is none, also for what cannot be the id of one. */
export async function openVisible(log: EventLog, user: User, id: string): Promise<SessionLog | undefined> {
  if (!maySee(user, id)) return undefined;
  try {
    return await log.open(id);
  } catch (error) {
    if (error instanceof LogError && error.code === "InvalidId") return undefined;
    throw error;
  }
}
