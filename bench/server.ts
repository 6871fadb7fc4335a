/**
 * What a server costs, beside its sessions: `server.ts [--streams N]` (default: 10,000). The readers run in this process, the servers
 * in processes of their own.
 */
import { parseArgs } from "node:util";
import { PostgresServer } from "@moora/testbed/postgres/server";
import { table } from "./harness/table.ts";
import { machineText } from "./packed/machine-text.ts";
import { Reader } from "./server/reader.ts";
import { ServerProcess } from "./server/server-process.ts";
import { pieces } from "./server/streaming-agent.ts";

const { values } = parseArgs({ options: { streams: { type: "string", default: "10000" } } });
const streams = Number(values.streams);
const sessions = 100;
const loopsOfEach = 3;

const rows: string[][] = [];
const row = (what: string, value: string): void => void rows.push([what, value]);
const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} KB`;

/** Opens streams and lets all sessions answer, so that each event goes to all readers of its session. */
async function measureStreams(): Promise<void> {
  await using server = await ServerProcess.start();
  const ids: string[] = [];
  while (ids.length < sessions) ids.push(await server.createSession());
  const empty = await server.memory();
  const readers: Reader[] = [];
  const from = performance.now();
  while (readers.length < streams) {
    const open = Array.from({ length: Math.min(100, streams - readers.length) }, (_, index) =>
      Reader.open(server.port, ids[index % sessions] ?? ""),
    );
    readers.push(...(await Promise.all(open)));
  }
  row("open streams on one process", readers.length.toLocaleString("en"));
  row("opening a stream", `${((performance.now() - from) / streams).toFixed(2)} ms`);
  const idle = await server.memory();
  row("heap of an idle stream", kilobytes((idle.heap - empty.heap) / streams));
  row("memory of the process for an idle stream", kilobytes((idle.rss - empty.rss) / streams));

  const count = (): number => readers.reduce((sum, { events }) => sum + events, 0);
  const before = count();
  const begun = performance.now();
  for (let loop = 0; loop < loopsOfEach; loop += 1) {
    const answered = readers.map((reader) => reader.sees("re-act-observed"));
    for (const id of ids) await server.post(`/sessions/${id}/messages`, { content: "Hello" });
    await Promise.all(answered);
  }
  const seconds = (performance.now() - begun) / 1_000;
  row("events to readers in a second", Math.round((count() - before) / seconds).toLocaleString("en"));
  const active = await server.memory();
  row("memory of the process for an active stream", kilobytes((active.rss - empty.rss) / streams));
  for (const reader of readers) reader[Symbol.dispose]();
}

/** Compares messages over HTTP, with one reader, with messages to a session. */
async function measureMessages(): Promise<void> {
  await using server = await ServerProcess.start();
  const loops = 300;
  await server.directLoop(loops);
  const direct = await server.directLoop(loops);
  const id = await server.createSession();
  using reader = await Reader.open(server.port, id);
  const run = async (): Promise<number> => {
    const from = performance.now();
    for (let loop = 0; loop < loops; loop += 1) {
      const answered = reader.sees("re-act-observed");
      await server.post(`/sessions/${id}/messages`, { content: "Hello" });
      await answered;
    }
    return ((performance.now() - from) * 1_000) / loops;
  };
  await run();
  row(`loop of a session, answered in ${pieces} pieces`, `${direct.toFixed(0)} µs of CPU`);
  row("the same by a server, from the post to the last event", `${(await run()).toFixed(0)} µs`);
}

/** Kills the server that runs a session, and waits until a reader sees that another one runs it. */
async function measureTakeOver(): Promise<void> {
  await using postgres = await PostgresServer.start();
  await using next = await ServerProcess.start(postgres.url);
  const times: number[] = [];
  while (times.length < 5) {
    await using killed = await ServerProcess.start(postgres.url);
    const id = await killed.createSession();
    using reader = await Reader.open(next.port, id);
    const opened = reader.sees("session-opened");
    const from = performance.now();
    killed.kill();
    await next.post(`/sessions/${id}/messages`, { content: "Hello" });
    await opened;
    times.push(performance.now() - from);
  }
  const sorted = times.toSorted((one, other) => one - other).map((ms) => ms.toFixed(0));
  row("take-over after a kill, on one machine", `${sorted[0]} to ${sorted.at(-1)} ms`);
}

await measureStreams();
await measureMessages();
await measureTakeOver();
console.log(`${table(["server", ""], rows)}\n${machineText()}`);
