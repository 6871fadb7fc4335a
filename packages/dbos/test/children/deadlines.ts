/** A process that hosts an agent that asks on DBOS. Its orders are the JSON of its argument. */
import { dbosHost } from "@moora/dbos";
import { postgresLog } from "@moora/event-log-postgres";
import { askingAgent } from "@moora/testbed/asking-agent";
import pg from "pg";
import { serveCommands, type LaunchOrders } from "./commands.ts";

export interface DeadlineOrders extends LaunchOrders {
  /** When its questions expire, in milliseconds. */
  readonly expiresAfterMs: number;
}

const orders: DeadlineOrders = JSON.parse(process.argv[2] ?? "");

const host = dbosHost(askingAgent("asking", orders.expiresAfterMs), {
  log: postgresLog(orders.url),
  takeOver: new pg.Pool({ connectionString: orders.url }),
  takeOverPollMs: 100,
});
await serveCommands(host, orders);
