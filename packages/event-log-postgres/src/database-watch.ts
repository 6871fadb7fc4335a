import { HeadWatch } from "@moora/event-log/store";
import type { Database } from "./database.ts";
import type { PostgresClient } from "./postgres-pool.ts";

/** The delay before a broken connection is replaced. */
const reconnectMs = 1_000;

/**
 * Watches the sessions of a database. One connection listens for notifications of the server, and the heads are also compared
 * once a second, so a watch works behind a pooler that does not forward notifications, and after a broken connection.
 */
export function watchDatabase(database: Database): HeadWatch {
  const watch = new HeadWatch({
    async headsOf(generations) {
      const rows = await database.rows("read the heads", database.statements.heads, generations);
      return new Map(rows.map((row) => [String(row["generation"]), String(row["head"])]));
    },
    source: (onChange) =>
      listen(database, {
        onAppend: (payload) => {
          const generation = database.foreignGeneration(payload);
          if (generation !== undefined) watch.notify(generation);
        },
        onConnect: () => onChange(),
      }),
  });
  return watch;
}

interface ChannelListener {
  readonly onAppend: (payload: string) => void;
  /** Called once the connection listens. Earlier notifications may have been missed. */
  readonly onConnect: () => void;
}

/** Listens for appends on one connection, and replaces it when it breaks. Returns a function that stops it. */
function listen(database: Database, listener: ChannelListener): () => void {
  const { channel } = database;
  if (channel === null) return () => undefined;
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
  const keepListening = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await database
        .keepClient((client) => listenUntilClosed(client, channel, listener, stopped))
        .catch(() => undefined);
      await Promise.race([stopped, unreferencedDelay(reconnectMs)]);
    }
  };
  void keepListening();
  return () => stop.abort();
}

/** Listens until the connection breaks or `stopped` resolves. Does not keep the process alive meanwhile. */
async function listenUntilClosed(
  client: PostgresClient,
  channel: string,
  { onAppend, onConnect }: ChannelListener,
  stopped: Promise<void>,
): Promise<void> {
  const ended = new Promise<void>((resolve) => client.on("end", resolve));
  client.on("notification", ({ payload }) => onAppend(payload ?? ""));
  await client.query(`LISTEN "${channel}"`);
  client.unref?.();
  onConnect();
  await Promise.race([ended, stopped]);
  // From here on, closing the pool may wait for this connection.
  client.ref?.();
}

const unreferencedDelay = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms).unref());
