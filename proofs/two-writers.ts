/** Two writers of one session, six steps each: all 924 orders give the log that they should, in every kind of log. */
import { checkInterleaving, interleavings, type LogStorage } from "@moora/event-log/testing";
import { poolOn, PostgresServer } from "@moora/testbed/postgres/server";
import { postgresStorage } from "@moora/testbed/postgres/storage";
import { relaxedStores, stores } from "@moora/testbed/stores";
import { prove } from "./parts/in-chunks.ts";

const orders = [...interleavings(6, 6)];
const embedded = [...stores.filter(({ name }) => name === "memory"), ...relaxedStores];
const storeNames = [...embedded.map(({ name }) => name), "Postgres"];

await prove({
  name: "two writers",
  file: import.meta.filename,
  goal: orders.length * storeNames.length,
  chunk: orders.length,
  async run(first, size) {
    const storeName = storeNames[first / orders.length] ?? "";
    const store = embedded.find(({ name }) => name === storeName);
    const failures: string[] = [];
    const checkIn = async (storage: LogStorage): Promise<void> => {
      for (const [index, order] of orders.slice(0, size).entries()) {
        await checkInterleaving(storage, `order ${index}`, order).catch((error: unknown) =>
          failures.push(`${storeName}, order ${index}: ${String(error)}`),
        );
      }
      await storage.dispose();
    };
    if (store === undefined) await withPostgres(checkIn);
    else await checkIn(store.storageOf());
    return { cases: size, failures, counts: { [`orders in the ${storeName} log`]: size } };
  },
});

async function withPostgres(use: (storage: LogStorage) => Promise<void>): Promise<void> {
  await using server = await PostgresServer.start();
  const pool = poolOn(server.url);
  await use(postgresStorage(pool, server.url));
  await pool.end();
}
