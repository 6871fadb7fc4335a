import type { EventLog } from "@moora/event-log";
import { checkIsId, checkIsLog } from "../check-arguments.ts";
import { systemClock } from "../clock.ts";
import { isLeased } from "./hold-sessions.ts";
import { findCalled, findFamily, type ListedSession } from "./session-family.ts";

/**
 * Removes a session and those of its sub-agents in the same log, at any depth, also if a process runs them: its handles then fail
 * with `LogRemoved`. Returns the ids of the removed sessions, sub-agents first; none if the log does not have the session.
 * `pruneSessions` removes only sessions that no process runs.
 */
export async function removeSession(log: EventLog, id: string): Promise<readonly string[]> {
  checkIsLog(log);
  checkIsId(id);
  const family = await findFamily(log, id);
  if (family === undefined) return (await log.remove(id)) ? [id] : [];
  const isRunning = await isLeased(log, id, systemClock);
  // Sub-agents come first: a removal that is interrupted can be repeated, because their caller is still there.
  const removed = await removeAll(log, family.members);
  // The process that ran the session may have called a sub-agent meanwhile.
  return isRunning ? [...removed, ...(await removeAll(log, await findCalled(log, family.session)))] : removed;
}

async function removeAll(log: EventLog, sessions: readonly ListedSession[]): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const { id } of sessions) if (await log.remove(id)) removed.push(id);
  return removed;
}
