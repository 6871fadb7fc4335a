import { namesOf, World } from "./world.ts";

export interface Throughput {
  readonly processes: number;
  readonly modelMs: number;
  /** Sessions that were opened, answered with one tool call, and closed, in a second. */
  readonly sessionsPerSecond: number;
}

/** How many sessions with a message each a number of workers finish in a second. Their start is not counted. */
export async function measureThroughput(
  processes: number,
  { sessions, modelMs, maxSessions }: { sessions: number; modelMs: number; maxSessions: number },
): Promise<Throughput> {
  await using world = await World.start(true);
  const workers = Array.from({ length: processes }, () =>
    world.process({ modelMs, maxSessions, pollMs: 50 }),
  );
  await Promise.all(workers.map((worker) => worker.ready()));
  // A few sessions first, so that connections and compiled code are there.
  await Promise.all(workers.map((worker) => worker.begin()));
  await world.post(namesOf("first", processes * 5), "pay");
  await world.settled();
  for (const worker of workers) worker.pause();
  await world.post(namesOf("session", sessions), "pay");
  const start = performance.now();
  for (const worker of workers) worker.resume();
  await world.settled();
  const seconds = (performance.now() - start) / 1_000;
  if (new Set(world.effects).size !== world.effects.length) throw new Error("An effect happened twice.");
  return { processes, modelMs, sessionsPerSecond: Math.round(sessions / seconds) };
}
