/**
 * A process that hosts several agents on DBOS, each with a tool that may be repeated, and takes over. Its orders are the JSON of its argument.
 * The id of a session begins with the name of its agent. With `holds`, the tools never end.
 */
import { defineAgent, defineTool } from "@moora/agent";
import { dbosHost, type DbosHost } from "@moora/dbos";
import { postgresLog } from "@moora/event-log-postgres";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import pg from "pg";
import { serveCommands, type LaunchOrders } from "./commands.ts";

export interface AgentsOrders extends LaunchOrders {
  readonly agents: readonly string[];
  readonly holds: boolean;
}

const orders: AgentsOrders = JSON.parse(process.argv[2] ?? "");
const log = postgresLog(orders.url);
const takeOver = new pg.Pool({ connectionString: orders.url });

const work = defineTool({
  name: "work",
  description: "Works.",
  input: { type: "object" },
  replay: "safe",
  execute: async () => {
    console.log("began");
    if (orders.holds) await new Promise(() => undefined);
    return "worked";
  },
});

const llm = new MockLlmCaller(({ messages }) =>
  messages.at(-1)?.role === "user" ? callsTools([{ name: "work", arguments: {} }]) : answers("Done."),
);

const hosts = new Map(
  orders.agents.map((name) => [
    name,
    dbosHost(defineAgent({ name, llm, tools: [work] }), { log, takeOver, takeOverPollMs: 100 }),
  ]),
);

function hostOf(id: string): DbosHost {
  const host = hosts.get(id.split("-")[0] ?? "");
  if (host === undefined) throw new Error(`No host of the session ${id}.`);
  return host;
}

const all: DbosHost = {
  post: (id, input, options) => hostOf(id).post(id, input, options),
  stateOf: (id) => hostOf(id).stateOf(id),
  waitFor: (id, isReached) => hostOf(id).waitFor(id, isReached),
};

await serveCommands(all, orders).catch((error: unknown) => console.log(`failed ${String(error)}`));
process.exit();
