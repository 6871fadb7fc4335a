import { join } from "node:path";
import { defineAgent, openSession } from "@moora/agent";
import { sqliteLog, sqliteMemoryStore } from "@moora/event-log/sqlite";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { memoryContext, memoryTools, type MemoryStore } from "../../src/index.ts";

// Asks an agent to remember something. With "crash", the process dies when the store has it, before the log has the result.
const [folder = "", crash = ""] = process.argv.slice(2);
await using memories = sqliteMemoryStore(join(folder, "memories.db"));
const store: MemoryStore = {
  ...memories,
  async remember(user, memory) {
    await memories.remember(user, memory);
    if (crash === "crash") process.kill(process.pid, "SIGKILL");
  },
};
const llm = new MockLlmCaller(({ messages }) =>
  messages.some(({ role }) => role === "assistant")
    ? answers("Noted.")
    : callsTools([{ name: "remember", arguments: { text: "Prefers tea." } }]),
);
const agent = defineAgent({ llm, context: memoryContext, tools: memoryTools(store) });
await using log = sqliteLog(join(folder, "log.db"));
await using session = await openSession(agent, {
  log,
  id: "ada",
  context: { user: "ada" },
  isOwnerGone: () => true,
});
if (session.current().messages.length === 0) await session.send("I prefer tea.");
await session.settled();
console.log(session.current().messages.at(-1)?.content);
