/**
 * What durability costs: a step (a model call and a tool call, answered at once) on each log beside the bare appends of
 * the same records; what a log takes up for what was said; how long sessions take to open; a thousand sessions at once.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool, openSession, type Agent } from "@moora/agent";
import { chainStart, memoryLog, type EventLog, type LogRecord, type SessionLog } from "@moora/event-log";
import { jsonlLog } from "@moora/event-log/jsonl";
import { sqliteLog } from "@moora/event-log/sqlite";
import { withSessions } from "@moora/event-log/testing";
import { postgresLog } from "@moora/event-log-postgres";
import { noUsage, type LlmCaller, type LlmOutcome } from "@moora/llm";
import { headerOf, headerToText, initialStateOf, inputToRecord } from "@moora/testbed/agent-internals";
import { poolOn, PostgresServer } from "@moora/testbed/postgres/server";
import { beginReplay } from "@moora/agent-core-state-machine";
import { conversation } from "./conversation.ts";
import { table } from "./measure.ts";

const outcome = (isLast: boolean): LlmOutcome => ({
  ok: true,
  model: "m",
  usage: { ...noUsage, inputTokens: 10, outputTokens: 5 },
  finish: { unified: isLast ? "stop" : "tool-calls", raw: "" },
  turn: {
    origin: "bench",
    parts: isLast
      ? [{ type: "text", text: "That was all of it." }]
      : [{ type: "tool-call", id: "c", name: "look", arguments: '{"a":1}' }],
  },
});

/** One tool call a step, until so many were made. */
const model = (steps: number): LlmCaller => ({
  name: "bench",
  call: ({ messages }) => Promise.resolve(outcome(messages.length >= steps)),
});

/** A kilobyte, as tools answer with: lines of prose. */
const kilobyte = `${"All work and no play makes Jack a dull boy. ".repeat(2)}\n`.repeat(12).slice(0, 1_024);

const agentOf = (steps: number, result: string): Agent =>
  defineAgent({
    name: "bench",
    llm: model(steps),
    tools: [
      defineTool({
        name: "look",
        description: "Looks.",
        input: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
        replay: "safe",
        execute: () => result,
      }),
    ],
    config: { limits: { maxSteps: steps + 1 }, reflection: { aboveInputTokens: 0 } },
  });

/** A log, and the sizes of all appends that went through it. */
function counted(log: EventLog): { readonly log: EventLog; readonly appends: (readonly LogRecord[])[] } {
  const appends: (readonly LogRecord[])[] = [];
  const counting = (session: SessionLog): Partial<SessionLog> => ({
    append(expectedSeq, records) {
      appends.push(records);
      return session.append(expectedSeq, records);
    },
  });
  return { appends, log: withSessions(log, counting) };
}

const directory = mkdtempSync(join(tmpdir(), "moora-bench-"));
let ids = 0;
const fresh = (): string => `session-${(ids += 1)}`;

/** The cost without interference from other processes: the fastest of some samples. */
const fastest = (samples: readonly number[]): number => Math.min(...samples);

async function msOf(work: () => unknown): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Appends what another session's log has, in the same batches, to a session of its own. */
async function appendBarely(log: EventLog, header: string, appends: readonly (readonly LogRecord[])[]) {
  const session = await log.create(fresh(), header);
  return await msOf(async () => {
    let seq = 0;
    for (const records of appends) {
      const done = session.append(seq, records);
      if (done instanceof Promise) await done;
      seq += records.length;
    }
  });
}

/** Microseconds a step, in a session and barely, taken in turns so that both have the same weather. */
async function stepCost(store: EventLog, steps: number, samples: number): Promise<readonly string[]> {
  const agent = agentOf(steps, kilobyte);
  const [ours, bare]: [number[], number[]] = [[], []];
  let perStep = 0;
  for (let sample = 0; sample < samples; sample += 1) {
    const { log, appends } = counted(store);
    const session = await openSession(agent, { log, id: fresh(), snapshots: false });
    ours.push(await msOf(() => session.ask("Go.")));
    await session.close();
    const header = (await store.open(session.id))?.header ?? "";
    bare.push(await appendBarely(store, header, appends));
    perStep = appends.length / steps;
  }
  const [mine, floor] = [fastest(ours), fastest(bare)].map((ms) => (ms * 1_000) / steps);
  if (mine === undefined || floor === undefined) return [];
  return [perStep.toFixed(2), floor.toFixed(0), mine.toFixed(0), (mine / floor).toFixed(2)];
}

async function stepCosts(): Promise<void> {
  const rows: (readonly string[])[] = [];
  const measure = async (name: string, log: EventLog, steps: number, samples: number): Promise<void> => {
    rows.push([name, ...(await stepCost(log, steps, samples))]);
    await log.close();
  };
  // Warms everything up that is not a store's own.
  await stepCost(memoryLog(), 100, 300);
  await measure("memory", memoryLog(), 100, 40);
  await measure("SQLite, full", sqliteLog(join(directory, "full.db")), 50, 12);
  await measure(
    "SQLite, relaxed",
    sqliteLog(join(directory, "relaxed.db"), { durability: "relaxed" }),
    100,
    30,
  );
  await measure("JSONL, full", jsonlLog(join(directory, "jsonl")), 50, 12);
  await measure("JSONL, relaxed", jsonlLog(join(directory, "hasty"), { durability: "relaxed" }), 100, 30);
  try {
    await using server = await PostgresServer.start();
    const pool = poolOn(server.url);
    await measure("Postgres", postgresLog(pool), 50, 12);
    await pool.end();
  } catch (error) {
    rows.push([`Postgres: ${String(error).slice(0, 60)}`]);
  }
  console.log(table(["a step of a session", "appends", "bare µs", "session µs", "times"], rows));
}

const bytesIn = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

/** What a log takes up on the disk for each byte that was said: by the user, the model and the tool. */
async function storage(): Promise<void> {
  const rows: string[][] = [];
  for (const turns of [10, 20, 40, 80]) {
    const content =
      "Go.".length + turns * (kilobyte.length + '{"a":1}'.length) + "That was all of it.".length;
    const file = join(directory, `storage-${turns}.db`);
    const stores = [
      sqliteLog(file, { durability: "relaxed" }),
      jsonlLog(join(directory, `storage-${turns}`)),
    ];
    for (const log of stores) {
      const session = await openSession(agentOf(turns + 1, kilobyte), { log, id: "one", snapshots: false });
      await session.ask("Go.");
      await session.close();
      await log.close();
    }
    const lines = bytesIn(join(directory, `storage-${turns}`));
    const pages = statSync(file).size;
    rows.push([String(turns), String(content), (lines / content).toFixed(2), (pages / content).toFixed(2)]);
  }
  console.log(table(["turns of 1 KB", "bytes said", "JSONL, times", "SQLite, times"], rows));
}

/** Opening to read, without and with a snapshot. */
async function opening(): Promise<void> {
  const agent = defineAgent({
    name: "bench",
    llm: model(1),
    config: { limits: { maxSteps: 60 }, reflection: { aboveInputTokens: 0 } },
  });
  const header = headerToText(headerOf(agent, "incarnation"));
  const rows: string[][] = [];
  for (const count of [10_000, 100_000]) {
    const records: LogRecord[] = [];
    const replay = beginReplay(initialStateOf(agent), { changes: true });
    let head = chainStart(header);
    for (const input of conversation(count)) {
      const record = inputToRecord(head, input, replay.apply(input)?.changes ?? []);
      records.push(record);
      head = record;
    }
    for (const [name, log] of [
      ["SQLite", sqliteLog(join(directory, `open-${count}.db`), { durability: "relaxed" })],
      ["JSONL", jsonlLog(join(directory, `open-${count}`), { durability: "relaxed" })],
    ] as const) {
      const session = await log.create("one", header);
      for (let seq = 0; seq < count; seq += 10_000)
        await session.append(seq, records.slice(seq, seq + 10_000));
      const open = async (): Promise<number> => {
        const samples: number[] = [];
        for (let sample = 0; sample < 7; sample += 1) {
          samples.push(
            await msOf(async () => (await openSession(agent, { log, id: "one", access: "read" })).close()),
          );
        }
        return fastest(samples);
      };
      const without = await open();
      // The owner of a session saves a snapshot when it is closed.
      await (await openSession(agent, { log, id: "one" })).close();
      rows.push([
        `${name}, ${count.toLocaleString("en")} records`,
        without.toFixed(0),
        (await open()).toFixed(0),
      ]);
      await log.close();
    }
  }
  console.log(table(["opening", "folded, ms", "from a snapshot, ms"], rows));
}

/** A thousand sessions that are open and at work at the same time. */
async function crowd(): Promise<void> {
  const steps = 3;
  const agent = agentOf(steps, kilobyte);
  const rows: string[][] = [];
  for (const [name, log] of [
    ["memory", memoryLog()],
    ["SQLite, relaxed", sqliteLog(join(directory, "crowd.db"), { durability: "relaxed" })],
    ["JSONL, relaxed", jsonlLog(join(directory, "crowd"), { durability: "relaxed" })],
  ] as const) {
    const open = (id: number) => openSession(agent, { log, id: `s${id}` });
    const heapBefore = process.memoryUsage().heapUsed;
    let ms = 0;
    ms += await msOf(async () => {
      const sessions = await Promise.all(Array.from({ length: 1_000 }, (_, id) => open(id)));
      await Promise.all(sessions.map((session) => session.ask("Go.")));
      rows.push([name, "", String(Math.round((process.memoryUsage().heapUsed - heapBefore) / 1_000_000))]);
      await Promise.all(sessions.map((session) => session.close()));
    });
    rows.at(-1)?.splice(1, 1, ms.toFixed(0));
    await log.close();
  }
  console.log(table([`1,000 sessions of ${steps} steps`, "ms", "MB of heap"], rows));
}

try {
  await stepCosts();
  await storage();
  await opening();
  await crowd();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
