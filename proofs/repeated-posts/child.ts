/** A server of the agent "worker" as a process of its own: `child.ts POSTGRES_URL`. Prints its address. */
import { defineAgent, defineData, defineTool } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { answers, callsTools, hangs, MockLlmCaller } from "@moora/llm/testing";
import { createAgentServer } from "@moora/server";
import { serve } from "@moora/server/node";

const [, , url = ""] = process.argv;

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  input: { type: "object" },
  approval: "always",
  execute: () => "paid",
});

/** Waits for a message with the word wait, pays for one with pay, and answers any other. */
const llm = new MockLlmCaller(({ messages }) => {
  const last = messages.at(-1);
  const text = last?.role === "user" ? JSON.stringify(last) : "";
  if (text.includes("wait")) return hangs();
  return text.includes("pay") ? callsTools([{ name: "pay" }]) : answers("Done.");
});

const data = defineData({ schema: { type: "object" }, initial: { list: [] } });
const server = createAgentServer({
  agents: [defineAgent({ name: "worker", llm, tools: [pay], data })],
  log: postgresLog(url),
  leaseMs: 1_000,
  onError: (error) => console.error(String(error)),
});
const { url: address } = await serve(server, { port: 0 });
console.log(`listening ${address}`);
