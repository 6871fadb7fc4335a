/** What sessions take up in memory. */
import { openSession, startSession, type Session } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import { join } from "node:path";
import { atMost, timesAtMost, type Row, type Sampler } from "../harness/row.ts";
import { collectGarbage } from "../harness/ways.ts";
import { chatAgent, userText } from "../loops/chat.ts";

/** Bytes in use, after the garbage has been collected and finalizers have run. */
async function bytesInUse(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    collectGarbage("major");
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function closeAll(sessions: readonly Session[]): Promise<void> {
  await Promise.all(sessions.map((session) => session.close()));
}

const idleRecords = 1_000;
const idleAgent = chatAgent({ callsPerMessage: 5, resultLength: 200 });

async function idleSession(onRecord: (text: string) => void): Promise<Session> {
  const session = startSession(idleAgent);
  const unsubscribe = session.onInput((input) => onRecord(JSON.stringify(input)));
  for (let message = 0; session.seq() < idleRecords; message += 1) await session.ask(userText(message));
  await session.settled();
  unsubscribe();
  return session;
}

/** Kilobytes of a session: in memory, its state as JSON, and its records as JSON. */
async function sampleIdle(count: number): Promise<readonly number[]> {
  const sessions: Session[] = [];
  let records = 0;
  const onRecord = (text: string): void => {
    records += text.length;
  };
  const before = await bytesInUse();
  while (sessions.length < count) sessions.push(await idleSession(onRecord));
  const heap = (await bytesInUse()) - before;
  const state = sessions.reduce((sum, session) => sum + JSON.stringify(session.current()).length, 0);
  await closeAll(sessions);
  return [heap, state, records].map((bytes) => bytes / count / 1_000);
}

const idle: Sampler = {
  names: ["heap", "state as JSON", "records as JSON"],
  async warmUp() {
    await sampleIdle(5);
  },
  sample: () => sampleIdle(30),
};

const crowdSize = 1_000;

/** Megabytes of many sessions at once that have two results of 1 KB and wait for the third. */
function crowd(start: (agent: ReturnType<typeof chatAgent>, id: string) => Promise<Session>): Sampler {
  let runs = 0;
  const sample = async (size: number): Promise<readonly number[]> => {
    runs += 1;
    const lastCalls = Promise.withResolvers<void>();
    const allWait = Promise.withResolvers<void>();
    let waiting = 0;
    const agent = chatAgent({
      callsPerMessage: 3,
      resultLength: 1_024,
      async onCall(number) {
        if (number < 3) return;
        waiting += 1;
        if (waiting === size) allWait.resolve();
        await lastCalls.promise;
      },
    });
    const before = await bytesInUse();
    const sessions = await Promise.all(
      Array.from({ length: size }, (_, id) => start(agent, `${process.pid}-${runs}-${id}`)),
    );
    const answers = sessions.map((session) => session.ask(userText(runs)));
    await allWait.promise;
    const bytes = (await bytesInUse()) - before;
    lastCalls.resolve();
    await Promise.all(answers);
    await closeAll(sessions);
    return [bytes / 1_000_000];
  };
  return { names: ["heap"], warmUp: async () => void (await sample(20)), sample: () => sample(crowdSize) };
}

export const rows: readonly Row[] = [
  {
    name: "memory/idle",
    what: "idle session of 1,000 records",
    unit: "KB",
    goal: timesAtMost(2),
    prepare: () => idle,
  },
  {
    name: "memory/crowd",
    what: "1,000 sessions at work at once, in memory",
    unit: "MB",
    goal: atMost(200),
    prepare: () => crowd((agent) => Promise.resolve(startSession(agent))),
  },
  {
    name: "memory/crowd-sqlite",
    what: "1,000 sessions at work at once, in SQLite",
    unit: "MB",
    goal: atMost(200),
    prepare({ directory, resources }) {
      const log = sqliteLog(join(directory, "crowd.db"), { durability: "relaxed" });
      resources.defer(() => log.close());
      return crowd((agent, id) => openSession(agent, { log, id }));
    },
  },
];
