import { stateAt } from "@moora/agent";
import { namesOf, World } from "./world.ts";

export interface Poison {
  readonly sessions: number;
  readonly answered: number;
  /** How often the session whose tool ends its process has ended one. */
  readonly ends: number;
  readonly problems: readonly string[];
}

/**
 * Runs sessions with two workers that are started again when they end, beside three poison sessions: one with a damaged record,
 * one whose tool never returns, and one whose tool ends its process.
 */
export async function provePoison(sessions: number): Promise<Poison> {
  await using world = await World.start(false);
  const ids = namesOf("session", sessions);
  await world.post(["damaged"], "pay");
  await world.pool.query(
    "UPDATE moora_records SET body = body || ' ' WHERE generation = (SELECT generation FROM moora_sessions WHERE id = 'damaged')",
  );
  await world.post(["hanging"], "hang");
  await world.post(["crashing"], "crash");
  await world.post(ids, "pay");
  let ends = 0;
  const over = new AbortController();
  const supervise = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const worker = world.process({ leaseMs: 1_000, pollMs: 100, maxSessions: 5, modelMs: 5 });
      await worker.begin().catch(() => undefined);
      await worker.ended();
      if (!over.signal.aborted) ends += 1;
    }
  };
  const supervisors = [supervise(), supervise()];
  // The tool that never returns may be given up, too: the other one can end its process.
  await world.settled(["damaged", "hanging"]);
  over.abort();
  await world.killAll();
  await Promise.all(supervisors);

  const answerOf = async (id: string): Promise<string> => {
    const { messages } = (await stateAt(world.log, id)).state;
    return JSON.stringify(messages.at(-1)?.content);
  };
  const answers = await Promise.all(ids.map(answerOf));
  const answered = answers.filter((answer) => answer === '"Done."').length;
  const problems = [
    ...(answered === sessions ? [] : [`${sessions - answered} sessions have no answer`]),
    ...(new Set(world.effects).size === world.effects.length ? [] : ["an effect happened twice"]),
    ...((await answerOf("crashing")) === '"Done."'
      ? []
      : ["the session that ends its process was not given up"]),
  ];
  return { sessions, answered, ends, problems };
}
