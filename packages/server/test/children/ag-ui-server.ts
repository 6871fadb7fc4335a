/** A server for clients of AG-UI as a process of its own: `ag-ui-server.ts DATABASE hang|answer`. Prints its address, and each run of its tool. */
import { defineAgent, defineTool } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import { answers, callsTools, hangs, MockLlmCaller } from "@moora/llm/testing";
import { createAgentServer } from "../../src/index.ts";
import { serve } from "../../src/node.ts";

const [file = "", mode = "answer"] = process.argv.slice(2);

/** A tool that runs once, and does not end before a process that hangs is killed. */
const once = (name: string, onUnknown: "report" | "ask") =>
  defineTool({
    name,
    description: "Pays.",
    input: { type: "object" },
    replay: "once",
    onUnknown,
    async execute() {
      console.log("paying");
      if (mode === "hang") await new Promise(() => undefined);
      return "paid";
    },
  });

const llm = new MockLlmCaller(({ messages }) => {
  const last = messages.at(-1);
  if (last?.role === "assistant") return answers("It may be paid.");
  const text = JSON.stringify(last);
  if (text.includes("Sing")) {
    return mode === "hang"
      ? hangs("Once upon a ")
      : answers("Once there was a server.", { reasoning: "I sing." });
  }
  const name = text.includes("Charge") ? "charge" : "pay";
  return callsTools([{ name, arguments: { cents: 5 } }], { reasoning: "I pay.", text: "One moment." });
});
const tools = [once("pay", "report"), once("charge", "ask")];
const agents = [defineAgent({ name: "helper", llm, tools })];
const { url } = await serve(createAgentServer({ agents, log: sqliteLog(file) }), { port: 0 });
console.log(`listening ${url}`);
