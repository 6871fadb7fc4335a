/** A server as a process of its own: `server.ts DATABASE hang|answer`. Prints its address, and each run of its tool. */
import { defineAgent, defineTool } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { createAgentServer } from "../../src/index.ts";
import { serve } from "../../src/node.ts";

const [file = "", mode = "answer"] = process.argv.slice(2);

const work = defineTool({
  name: "work",
  description: "Works.",
  input: { type: "object" },
  replay: "keyed",
  async execute(_, { attempt }) {
    console.log(`working ${attempt}`);
    if (mode === "hang") await new Promise(() => undefined);
    return "worked";
  },
});

const llm = new MockLlmCaller(({ messages }) =>
  messages.some(({ role }) => role === "assistant") ? answers("It is done.") : callsTools([{ name: "work" }]),
);
const agents = [defineAgent({ name: "worker", llm, tools: [work] })];
const { url } = await serve(createAgentServer({ agents, log: sqliteLog(file) }), { port: 0 });
console.log(`listening ${url}`);
