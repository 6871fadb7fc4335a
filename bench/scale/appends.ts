import { chainStart, recordAfter, type EventLog, type SessionLog } from "@moora/event-log";

/** Creates sessions with the ids `PREFIX 0`, `PREFIX 1` and so on. */
export async function createSessions(
  log: EventLog,
  prefix: string,
  count: number,
): Promise<readonly SessionLog[]> {
  const sessions: SessionLog[] = [];
  while (sessions.length < count)
    sessions.push(await log.create(`${prefix} ${sessions.length}`, `{"header":${sessions.length}}`));
  return sessions;
}

export const recordsPerAppend = 2;

/** Appends two records of a usual length at each call. */
export function appender(session: SessionLog): () => Promise<void> {
  let head = chainStart(session.header);
  return async () => {
    const first = recordAfter(head, JSON.stringify({ text: "x".repeat(400) }), "changes");
    const second = recordAfter(first, JSON.stringify({ text: "y".repeat(400) }), "changes");
    await session.append(head.seq, [first, second]);
    head = second;
  };
}

/** How often all workers together finish in a second, each working without a pause for so many milliseconds. */
export async function rate(measureMs: number, workers: readonly (() => Promise<void>)[]): Promise<number> {
  const end = performance.now() + measureMs;
  let count = 0;
  const start = performance.now();
  await Promise.all(
    workers.map(async (work) => {
      while (performance.now() < end) {
        await work();
        count += 1;
      }
    }),
  );
  return Math.round((count * 1_000) / (performance.now() - start));
}
