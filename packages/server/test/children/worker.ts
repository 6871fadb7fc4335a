/** A worker as a process of its own: `worker.ts POSTGRES_URL EFFECTS_FILE`. Writes a line for each run of its tool. */
import { appendFileSync } from "node:fs";
import { defineAgent, defineTool } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { createAgentServer } from "../../src/index.ts";

const [url = "", effects = ""] = process.argv.slice(2);

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  input: { type: "object" },
  replay: "once",
  execute(_, { idempotencyKey }) {
    appendFileSync(effects, `${idempotencyKey}\n`);
    return "paid";
  },
});

const llm = new MockLlmCaller(({ messages }) =>
  messages.some(({ role }) => role === "assistant") ? answers("It is paid.") : callsTools([{ name: "pay" }]),
);
createAgentServer({
  agents: [defineAgent({ name: "payer", llm, tools: [pay] })],
  log: postgresLog(url),
  leaseMs: 1_500,
  worker: { pollMs: 50, maxSessions: 5 },
  onError: (error) => console.log("error", error),
});
console.log("working");
