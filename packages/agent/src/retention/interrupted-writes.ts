import { sessionsOf, type EventLog } from "@moora/event-log";
import { leaseIn } from "../durable/lease-in.ts";
import { isOfInterruptedWrite, removeInterruptedWrite } from "../durable/unfinished-write.ts";

/** The number of sessions that are read at once. */
const pageSize = 200;

/**
 * Removes what interrupted forks and imports have left, also the sessions of sub-agents. A copy whose writer may still write it stays.
 * Returns the ids of the removed sessions; with `dryRun` those that would be removed.
 */
export async function removeInterruptedWrites(log: EventLog, dryRun: boolean): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of sessionsOf(log, { limit: pageSize })) {
    const lease = await leaseIn(log, id);
    if (lease === undefined || !isOfInterruptedWrite(lease)) continue;
    if (dryRun || (await removeInterruptedWrite(log, id))) ids.push(id);
  }
  return ids;
}
