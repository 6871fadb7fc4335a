import { isLoopRunning } from "@moora/agent-core-state-machine";
import { recordOf } from "@moora/agent-core-state-machine/internal";
import type { EventLog, LogInfo } from "@moora/event-log";
import { checkIsId, checkIsLog } from "../check-arguments.ts";
import { systemClock } from "../clock.ts";
import { closesOriginal } from "../durable/closed-copy.ts";
import { closedError } from "../durable/closed-session.ts";
import { leaseIn } from "../durable/lease-in.ts";
import { restoreSession, type RestoredSession } from "../durable/restore.ts";
import { SessionError } from "../durable/session-error.ts";
import { identityOf } from "../durable/session-header.ts";
import { unlessRemoved } from "../durable/unless-removed.ts";
import { isLeased } from "./running-sessions.ts";
import {
  callerIdOf,
  findCalled,
  findFamily,
  findLeft,
  findSession,
  openReadable,
  type ListedSession,
} from "./session-family.ts";

/**
 * Removes a session and those of its sub-agents in the same log, at any depth, also if a process runs them: its handles then fail
 * with `LogRemoved`. A damaged session is removed as well. If the log does not have the session, removes the sub-agents that an interrupted removal of it has left. Returns
 * the ids of the removed sessions, sub-agents first. Rejects with `MoveUnfinished` for a session of which another log may have a copy, because
 * a move of it has not ended, and with `CallOpen` for a sub-agent whose caller is in the log and has the
 * call open. `pruneSessions` removes only sessions that no process runs.
 */
export async function removeSession(log: EventLog, id: string): Promise<readonly string[]> {
  checkIsLog(log);
  checkIsId(id);
  const family = await findFamily(log, id);
  if (family === undefined) {
    const left = await removeLeft(log, id);
    return (await log.remove(id)) ? [...left, id] : left;
  }
  await checkIsNotCalled(log, id);
  for (const { id: member } of family.members) await checkIsNoOriginal(log, member);
  const isRunning = await isLeased(log, id, systemClock);
  const called = family.members.filter((member) => member.id !== id);
  // A caller without its sub-agents would run them again. A removal that is interrupted can be repeated: they are found by their caller's id.
  const isRemoved = await log.remove(id);
  const removed = [...(await removeAll(log, called))];
  // The process that ran the session may have called a sub-agent meanwhile.
  if (isRunning) removed.push(...(await removeAll(log, await findCalled(log, family.session))));
  return isRemoved ? [...removed, id] : removed;
}

/**
 * Removes the sub-agents that an interrupted removal of a session has left, if each of them may be removed, and nothing of a session that
 * the log has. Returns their ids.
 */
export async function removeLeft(
  log: EventLog,
  id: string,
  mayRemove: (left: LogInfo) => boolean | Promise<boolean> = () => true,
): Promise<readonly string[]> {
  const left = await findLeft(log, id);
  for (const each of left) if (!(await mayRemove(each))) return [];
  return await removeAll(log, left);
}

/** Throws `MoveUnfinished` for the closed original of a copy, which may lack records. */
async function checkIsNoOriginal(log: EventLog, id: string): Promise<void> {
  const lease = await leaseIn(log, id);
  if (lease !== undefined && closesOriginal(lease.owner)) throw closedError(id, lease);
}

/** Throws `CallOpen` for a sub-agent whose call is open: without its session, the call would begin anew. */
export async function checkIsNotCalled(log: EventLog, id: string): Promise<void> {
  const session = await findSession(log, id);
  if (session === undefined) return;
  const callerId = await callerIdOf(log, session);
  if (callerId === undefined || !(await isCallOpen(log, callerId, session.parsed?.caller ?? ""))) return;
  throw new SessionError(
    "CallOpen",
    `Session "${id}" is that of a sub-agent of "${callerId}", whose call of it is open. ` +
      `Cancel the call first, or remove "${callerId}": its sub-agents go with it.`,
  );
}

/** Whether the call of a session with this idempotency key may continue. A damaged session cannot. */
async function isCallOpen(log: EventLog, callerId: string, key: string): Promise<boolean> {
  const caller = await openReadable(log, callerId);
  if (caller === undefined) return false;
  const restore = (): Promise<RestoredSession | undefined> =>
    unlessRemoved(() => restoreSession(caller, () => undefined), undefined);
  const restored = await unlessRemoved(restore, undefined, "LogCorrupt");
  if (restored === undefined) return false;
  const { state, header } = restored;
  const record = recordOf(state, key.slice(identityOf(callerId, header).length + 1));
  // The calls of the handler of a custom state are not in the log.
  return record === undefined ? isLoopRunning(state) : record.result === null;
}

async function removeAll(log: EventLog, sessions: readonly ListedSession[]): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const { id } of sessions) if (await log.remove(id)) removed.push(id);
  return removed;
}
