/**
 * A process that hosts sessions on DBOS: `host.ts ORDERS`. It prints a line for each of its answers to the lines of its input: posts,
 * as JSON. With `holds`, a tool waits for ever in the phase that its argument names.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { defineAgent, defineTool, type AgentInput } from "@moora/agent";
import { dbosHost } from "@moora/dbos";
import { postgresLog } from "@moora/event-log-postgres";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import pg from "pg";

export interface Orders {
  readonly url: string;
  readonly executor: string;
  readonly takesOver: boolean;
  readonly holds: boolean;
  /** The file with a line for each run of a tool. */
  readonly file: string;
}

export interface Post {
  readonly id: string;
  readonly input: AgentInput;
}

const orders: Orders = JSON.parse(process.argv[2] ?? "");

const hold = async (is: boolean): Promise<void> => {
  if (orders.holds && is) await new Promise(() => undefined);
};

const tools = (["read", "write", "pay"] as const).map((name) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input: { type: "object", properties: { phase: { type: "string" } } },
    replay: name === "read" ? "safe" : name === "write" ? "keyed" : "once",
    async execute({ phase }, { idempotencyKey }) {
      appendFileSync(orders.file, `${name} began ${idempotencyKey}\n`);
      await hold(phase === "begun");
      appendFileSync(orders.file, `${name} worked ${idempotencyKey}\n`);
      await hold(phase === "worked");
      return `${name} is done`;
    },
  }),
);

/** Calls the three tools with the phases that the message names. */
const llm = new MockLlmCaller(({ messages }) => {
  const last = messages.at(-1);
  if (last?.role !== "user") return answers("Done.");
  const [, ...phases] = /(\w+) (\w+) (\w+)/.exec(JSON.stringify(last.content)) ?? [];
  return callsTools(tools.map(({ name }, index) => ({ name, arguments: { phase: phases[index] ?? "" } })));
});

const log = postgresLog(orders.url);
const pool = new pg.Pool({ connectionString: orders.url });
const host = dbosHost(defineAgent({ name: "batch", llm, tools }), {
  log,
  ...(orders.takesOver ? { takeOver: pool, takeOverPollMs: 100 } : {}),
});
DBOS.setConfig({
  name: "moora",
  systemDatabaseUrl: orders.url,
  applicationVersion: "1",
  executorID: orders.executor,
  logLevel: "error",
});
await DBOS.launch();
console.log("launched");
for await (const line of createInterface(process.stdin)) {
  const { id, input }: Post = JSON.parse(line);
  const applied = await host.post(id, input);
  console.log(`posted ${id} ${applied}`);
}
