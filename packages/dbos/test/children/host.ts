/**
 * A process that hosts batches of three tools on DBOS. Its orders are the JSON of its argument. With `holds`, a tool waits
 * for the command `release` in the phase that its argument names.
 */
import { appendFileSync } from "node:fs";
import { defineAgent, defineTool } from "@moora/agent";
import { dbosHost } from "@moora/dbos";
import { postgresLog } from "@moora/event-log-postgres";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import pg from "pg";
import { serveCommands, type LaunchOrders } from "./commands.ts";
import { withLateIntents } from "./late-intents.ts";

export interface Orders extends LaunchOrders {
  readonly takesOver: boolean;
  readonly holds: boolean;
  /** The type of an intent. The process prints `intended ID`, and appends the first one after the session was paused. */
  readonly intendsLate?: "llm-call-started" | "tool-call-started";
  /** The file with a line for each run of a tool. */
  readonly file: string;
}

const orders: Orders = JSON.parse(process.argv[2] ?? "");

const released = Promise.withResolvers<void>();

const hold = async (is: boolean): Promise<void> => {
  if (orders.holds && is) await released.promise;
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
const { intendsLate } = orders;
const host = dbosHost(defineAgent({ name: "batch", llm, tools }), {
  log: intendsLate === undefined ? log : withLateIntents(log, intendsLate),
  onLog: ({ level, code, sessionId }) => console.log(`${level} ${code} ${sessionId}`),
  ...(orders.takesOver
    ? { takeOver: new pg.Pool({ connectionString: orders.url }), takeOverPollMs: 100 }
    : {}),
});
await serveCommands(host, orders, released.resolve);
