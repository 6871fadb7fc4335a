import { HeadWatch } from "@moora/event-log";
import type { Database } from "./database.ts";
import type { PostgresClient } from "./postgres-pool.ts";

/** How long to wait before a connection that broke is replaced. */
const reconnectMs = 1_000;

/**
 * Watches the sessions of a database. One connection listens for messages of the server, and the heads are compared once
 * a second besides: so a watch works behind a pooler that passes no messages on, and after a break.
 */
export function watchDatabase(database: Database): HeadWatch {
  const watch = new HeadWatch({
    async headsOf(lives) {
      const rows = await database.rows("watch", database.statements.heads, lives);
      return new Map(rows.map((row) => [String(row["life"]), String(row["head"])]));
    },
    source: (changed) =>
      listen(database, { heard: (life) => watch.notify(life), connected: () => changed() }),
  });
  return watch;
}

interface Ears {
  readonly heard: (life: string) => void;
  /** Before it, messages may have been missed. */
  readonly connected: () => void;
}

/** Keeps one connection that hears of appends, and replaces it when it breaks. Returns a function that stops it. */
function listen(database: Database, ears: Ears): () => void {
  const { channel } = database;
  if (channel === null) return () => undefined;
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
  const keepListening = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await database.keepClient((client) => hear(client, channel, ears, stopped)).catch(() => undefined);
      await Promise.race([stopped, unreferencedDelay(reconnectMs)]);
    }
  };
  void keepListening();
  return () => stop.abort();
}

/** Until the connection breaks, or is no longer wanted. It keeps no process alive. */
async function hear(
  client: PostgresClient,
  channel: string,
  { heard, connected }: Ears,
  stopped: Promise<void>,
): Promise<void> {
  const ended = new Promise<void>((resolve) => client.on("end", resolve));
  client.on("notification", ({ payload }) => heard(payload ?? ""));
  await client.query(`LISTEN "${channel}"`);
  client.unref?.();
  connected();
  await Promise.race([ended, stopped]);
  // From here on somebody may wait for it to be closed.
  client.ref?.();
}

const unreferencedDelay = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms).unref());
