import type { EventLog } from "@moora/event-log";
import { checkIsId, checkIsLog } from "../check-arguments.ts";
import { systemClock } from "../clock.ts";
import { isLeased } from "./hold-sessions.ts";
import { findCalled, findFamily, findLeft, type ListedSession } from "./session-family.ts";

/**
 * Removes a session and those of its sub-agents in the same log, at any depth, also if a process runs them: its handles then fail
 * with `LogRemoved`. Returns the ids of the removed sessions, sub-agents first; none if the log does not have the session.
 * `pruneSessions` removes only sessions that no process runs.
 */
export async function removeSession(log: EventLog, id: string): Promise<readonly string[]> {
  checkIsLog(log);
  checkIsId(id);
  const family = await findFamily(log, id);
  if (family === undefined) {
    const left = await removeAll(log, await findLeft(log, id));
    return (await log.remove(id)) ? [...left, id] : left;
  }
  const isRunning = await isLeased(log, id, systemClock);
  const called = family.members.filter((member) => member.id !== id);
  // A caller without its sub-agents would run them again. A removal that is interrupted can be repeated: they are found by their caller's id.
  const isRemoved = await log.remove(id);
  const removed = [...(await removeAll(log, called))];
  // The process that ran the session may have called a sub-agent meanwhile.
  if (isRunning) removed.push(...(await removeAll(log, await findCalled(log, family.session))));
  return isRemoved ? [...removed, id] : removed;
}

async function removeAll(log: EventLog, sessions: readonly ListedSession[]): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const { id } of sessions) if (await log.remove(id)) removed.push(id);
  return removed;
}
