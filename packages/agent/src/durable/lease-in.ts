import type { EventLog, Lease } from "@moora/event-log";
import { unlessRemoved } from "./unless-removed.ts";

/** The lease of a session; undefined without one, and for a session that does not exist or is removed meanwhile. */
export async function leaseIn(log: EventLog, id: string): Promise<Lease | undefined> {
  const session = await log.open(id);
  return session && (await unlessRemoved(async () => await session.currentLease(), undefined));
}
