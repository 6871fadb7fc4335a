/** Logs that watch a session each: `listeners-child.ts POSTGRES_URL COUNT`. Sends how many notifications they have received. */
import { setImmediate as turn } from "node:timers/promises";
import { postgresLog } from "@moora/event-log-postgres";
import { poolOn } from "@moora/testbed/postgres/server";

const [, , url = "", count = ""] = process.argv;
let received = 0;

for (let index = 0; index < Number(count); index += 1) {
  // A connection listens; the heads are compared over the other one.
  const pool = poolOn(url, 2);
  pool.on("connect", (client) => client.on("notification", () => (received += 1)));
  const session = await postgresLog(pool).create(`watched ${crypto.randomUUID()}`, "{}");
  session.watch(() => undefined);
}

const admin = poolOn(url, 1);
const listening = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'LISTEN %'";
while ((await admin.query(listening)).rows[0].n < Number(count)) await turn();
await admin.end();
process.on("message", () => process.send?.(received));
process.once("disconnect", () => process.exit());
process.send?.(received);
