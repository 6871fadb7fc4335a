import { readSession } from "@moora/agent";
import { namesOf, World } from "./world.ts";

export interface TakeOver {
  /** From the kill to the record of the next owner, in milliseconds. */
  readonly delaysMs: readonly number[];
  /** From the kill to the end of the lease of each session, in the same order. */
  readonly leaseEndsMs: readonly number[];
}

/** Kills a process in the middle of its tools, and measures when a worker has taken its sessions over. */
export async function measureTakeOver({
  sessions,
  leaseMs,
}: {
  readonly sessions: number;
  readonly leaseMs: number;
}): Promise<TakeOver> {
  await using world = await World.start(true);
  const ids = namesOf("session", sessions);
  const killed = world.process({ leaseMs, hangs: true });
  await killed.begin();
  await world.post(ids, "work");
  await world.until(() => world.effects.length === sessions);
  await world.process({ leaseMs }).begin();
  await killed.kill();
  const killedAt = Date.now();
  const leases = await Promise.all(ids.map(async (id) => await (await world.log.open(id))?.currentLease()));
  await world.settled();
  if (world.effects.length !== 2 * sessions) throw new Error("A call was not repeated exactly once.");
  const openedAt = async (id: string): Promise<number> => {
    const { inputs } = await readSession(world.log, id);
    return inputs.findLast(({ type }) => type === "session-opened")?.timestamp ?? Number.NaN;
  };
  const opened = await Promise.all(ids.map(openedAt));
  return {
    delaysMs: opened.map((at) => at - killedAt),
    leaseEndsMs: leases.map((lease) => (lease?.until ?? Number.NaN) - killedAt),
  };
}
