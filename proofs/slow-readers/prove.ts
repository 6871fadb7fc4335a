import { join } from "node:path";
import { importSession } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import { Child } from "@moora/testbed/child";
import { Place } from "@moora/testbed/durable/places";
import { longSession } from "@moora/testbed/long-session";
import { openUnread, StreamReader } from "./stream-reader.ts";
import { textOf, type Memory } from "./traffic.ts";

export interface SlowReaderOptions {
  /** How many records the session has. */
  readonly records: number;
  /** How many tokens the model then streams. */
  readonly tokens: number;
  /** How many readers read nothing: half of them from the first record on, half from the last one. */
  readonly unread: number;
  /** The heap of the server in mebibytes. It ends if it needs more, which rejects the proof. */
  readonly heapMiB: number;
}

export interface SlowReaderResult {
  readonly problems: readonly string[];
  /** By how much the peak of the memory of the server has grown since it had opened the session. */
  readonly grownBytes: number;
  /** What the readers that read nothing were not sent, at least: with one byte for a character. */
  readonly unreadBytes: number;
}

/** Serves readers that read nothing, or late, beside one that reads everything, and measures the memory of the server. */
export async function proveSlowReaders(options: SlowReaderOptions): Promise<SlowReaderResult> {
  const { records, tokens, unread } = options;
  using place = new Place();
  await makeSession(place.file("log.db"), records);
  await using server = new Child(
    { path: join(import.meta.dirname, "child.ts"), execArgv: [`--max-old-space-size=${options.heapMiB}`] },
    place.file("log.db"),
    String(tokens),
  );
  const [, url = ""] = await server.printed(/listening (\S+)/);
  // It changes nothing, and makes the server the owner of the session.
  await post(url, "cancel", {});
  await using healthy = await StreamReader.open(url);
  const last = await headOf(url);
  await healthy.readTo(last);
  const before = await peakBytesOf(server);
  const sockets = await Promise.all(
    Array.from({ length: unread }, (_, index) => openUnread(url, index % 2 === 0 ? 0 : last)),
  );
  await using slow = await StreamReader.open(url);
  await slow.readTo(10);
  const cut = await StreamReader.open(url);
  await cut.readTo(10);
  const { last: cursor } = cut;
  await cut[Symbol.asyncDispose]();

  const head = await answer(url, healthy);
  await slow.readTo(head);
  await using resumed = await StreamReader.open(url, cursor);
  await resumed.readTo(head);
  const grownBytes = (await peakBytesOf(server)) - before;
  for (const socket of sockets) socket.destroy();
  const readers = [healthy, slow, cut, resumed];
  const problems = readers.flatMap((reader) => reader.problems);
  // On a busy machine, the record of the message arrives before the end of its text.
  const text = textOf(tokens);
  if (healthy.text === "" || !text.startsWith(healthy.text) || !healthy.record.includes(JSON.stringify(text)))
    problems.push("The reader that reads everything lacks text.");
  return { problems, grownBytes, unreadBytes: (unread / 2) * resumed.length };
}

/** How much memory the server has used at most. */
async function peakBytesOf(server: Child): Promise<number> {
  return ((await server.ask("memory")) as Memory).peakBytes;
}

/** Makes the session in a database. */
async function makeSession(file: string, records: number): Promise<void> {
  await using log = sqliteLog(file);
  await importSession(log, longSession(records));
}

/** Lets the model answer, while a reader reads. Returns the last record of the answer. */
async function answer(url: string, reader: StreamReader): Promise<number> {
  const { seq } = (await (await post(url, "messages", { content: "Talk." })).json()) as { seq: number };
  // The message with the start of the call, the beginning of the message of the model, and its end.
  const head = seq + 2;
  await reader.readTo(head);
  return head;
}

const post = (url: string, kind: string, body: object): Promise<Response> =>
  fetch(`${url}/sessions/long/${kind}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** The last record of the session. */
async function headOf(url: string): Promise<number> {
  return ((await (await fetch(`${url}/sessions/long`)).json()) as { seq: number }).seq;
}
