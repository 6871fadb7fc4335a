import { stateAt } from "@moora/agent";
import { namesOf, World } from "./world.ts";

export interface Neighbors {
  readonly sessions: number;
  /** How many of the slow calls ended with their result. */
  readonly found: number;
  /** How often the session whose tool ends its process has ended one. */
  readonly ends: number;
  readonly problems: readonly string[];
}

/**
 * Runs sessions with a slow call that may be repeated, in the same process as one whose tool ends it. The process is started again
 * each time. The poison is given up, and no other call is.
 */
export async function proveNeighbors(sessions: number): Promise<Neighbors> {
  await using world = await World.start(false);
  const ids = namesOf("slow", sessions);
  await world.post(ids, "slow");
  await world.post(["crashing"], "crash");
  const settled = new AbortController();
  const ending = world.settled().then(() => settled.abort());
  let ends = 0;
  while (!settled.signal.aborted) {
    const worker = world.process({ leaseMs: 500, pollMs: 100 });
    await worker.begin().catch(() => undefined);
    await Promise.race([worker.ended(), ending]);
    if (!settled.signal.aborted) ends += 1;
  }
  const codes = await Promise.all([...ids, "crashing"].map((id) => lastOutcome(world, id)));
  const found = codes.slice(0, -1).filter((code) => code === "success").length;
  const problems = [
    ...(found === sessions ? [] : [`${sessions - found} slow calls were given up with their neighbor`]),
    ...(codes.at(-1) === "crash-loop" ? [] : ["the session that ends its process was not given up"]),
  ];
  return { sessions, found, ends, problems };
}

/** How the last call of a session ended: "success", or the code of its failure. */
async function lastOutcome({ log }: World, id: string): Promise<string | undefined> {
  const { toolCalls } = (await stateAt(log, id)).state;
  const result = Object.values(toolCalls).at(-1)?.result;
  return result?.isSuccess === true ? "success" : result?.code;
}
