import type { EventLog, SessionLog } from "@moora/agent";
import { withSessions } from "@moora/event-log/testing";

/** A log that appends the first intent of a type in each session after another process has paused the session. */
export function withLateIntents(log: EventLog, intent: string): EventLog {
  const late = new Set<string>();
  return withSessions(log, (session) => ({
    async append(expectedSeq, records) {
      if (!late.has(session.id) && records.some(({ body }) => body.includes(`"${intent}"`))) {
        late.add(session.id);
        console.log(`intended ${session.id}`);
        await paused(session, expectedSeq);
      }
      await session.append(expectedSeq, records);
    },
  }));
}

/** Resolves when the records after `seq` have a pause. */
async function paused(session: SessionLog, seq: number): Promise<void> {
  const found = Promise.withResolvers<void>();
  const look = async (): Promise<void> => {
    const records = await session.read(seq);
    if (records.some(({ body }) => body.includes('"session-paused"'))) found.resolve();
  };
  const stop = session.watch(() => void look());
  await found.promise;
  stop();
}
