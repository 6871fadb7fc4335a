/** A process with a host and a server of one agent on DBOS. It posts a message over the server, and prints what it shows then. */
import { DBOS, DBOSClient } from "@dbos-inc/dbos-sdk";
import { answerTextAt, defineAgent } from "@moora/agent";
import { dbosHost, dbosLog } from "@moora/dbos";
import { postgresLog } from "@moora/event-log-postgres";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { createAgentServer } from "@moora/server";
import { launchDbos, type LaunchOrders } from "./commands.ts";

const orders: LaunchOrders = JSON.parse(process.argv[2] ?? "");
const log = postgresLog(orders.url);
const agent = defineAgent({ name: "served", llm: new MockLlmCaller(() => answers("Hello.")) });
const host = dbosHost(agent, { log });
const client = await DBOSClient.create({ systemDatabaseUrl: orders.url });
const served = dbosLog({ log, client, waitMs: 200_000 });
const server = createAgentServer({ agents: [agent], log: served });
await launchDbos(orders);

const post = async (path: string, body: unknown): Promise<Response> =>
  await server.fetch(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );

const { id }: { readonly id: string } = await (await post("/agents/served/sessions", {})).json();
const { status } = await (await post(`/sessions/${id}/messages`, { content: "Hi" })).json();
const state = await host.waitFor(id, ({ reActContext }) => reActContext.control.type === "Done");
console.log(`shown ${status} ${answerTextAt(state)}`);
await server.close();
await client.destroy();
await DBOS.shutdown();
await log.close();
