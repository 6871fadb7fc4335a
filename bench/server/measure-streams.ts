import { Reader } from "./reader.ts";
import { whole, type ServerRow } from "./row.ts";
import { ServerProcess } from "./server-process.ts";

/** How many streams are being opened at the same time. */
const together = 100;
const loopsOfEach = 3;

const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} KB`;

/** Opens streams of sessions in turns. Each is disposed of with the stack. */
async function openReaders(
  { port }: ServerProcess,
  { ids, streams, stack }: { ids: readonly string[]; streams: number; stack: DisposableStack },
): Promise<readonly Reader[]> {
  const readers: Reader[] = [];
  while (readers.length < streams) {
    const open = Array.from({ length: Math.min(together, streams - readers.length) }, async (_, index) =>
      stack.use(await Reader.open(port, ids[(readers.length + index) % ids.length] ?? "")),
    );
    readers.push(...(await Promise.all(open)));
  }
  return readers;
}

/** Lets all sessions answer, so that each event goes to all readers of its session. Returns the events in a second. */
async function eventsPerSecond(
  server: ServerProcess,
  ids: readonly string[],
  readers: readonly Reader[],
): Promise<number> {
  const count = (): number => readers.reduce((sum, { events }) => sum + events, 0);
  const [before, start] = [count(), performance.now()];
  for (let loop = 0; loop < loopsOfEach; loop += 1) {
    const answered = readers.map((reader) => reader.sees("re-act-observed"));
    for (const id of ids) await server.post(`/sessions/${id}/messages`, { content: "Hello" });
    await Promise.all(answered);
  }
  return ((count() - before) * 1_000) / (performance.now() - start);
}

/** What open streams of sessions cost one process, without what the process takes before they are open. */
export async function measureStreams(sessions: number, streams: number): Promise<readonly ServerRow[]> {
  await using server = await ServerProcess.start();
  using stack = new DisposableStack();
  const ids: string[] = [];
  while (ids.length < sessions) ids.push(await server.createSession());
  const empty = await server.memory();
  const start = performance.now();
  const readers = await openReaders(server, { ids, streams, stack });
  const openingMs = (performance.now() - start) / streams;
  const idle = await server.memory();
  const events = await eventsPerSecond(server, ids, readers);
  const active = await server.memory();
  return [
    ["sessions on one process", whole(sessions)],
    ["open streams on one process", whole(readers.length)],
    ["opening a stream", `${openingMs.toFixed(2)} ms`],
    ["heap of an idle stream", kilobytes((idle.heap - empty.heap) / streams)],
    ["memory of the process for an idle stream", kilobytes((idle.rss - empty.rss) / streams)],
    ["events to readers in a second", whole(events)],
    ["memory of the process for an active stream", kilobytes((active.rss - empty.rss) / streams)],
  ];
}
