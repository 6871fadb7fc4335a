// An agent that knows its users across sessions: what it remembers in one is before the first request of the next.
// Run it: node_modules/.bin/node --conditions=@moora/source examples/memory.ts
import { defineAgent, runTask } from "@moora/agent";
import { sqliteMemoryStore } from "@moora/event-log/sqlite";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { memoryContext, memoryTools, recallAtStart } from "@moora/tools";

await using store = sqliteMemoryStore(":memory:"); // a file, to keep it
const llm = new MockLlmCaller([
  callsTools([{ name: "remember", arguments: { text: "Prefers tea to coffee." } }]),
  answers("Noted."),
  answers("I do not know."),
  answers("Tea, as always."),
]);
const agent = defineAgent({
  llm,
  context: memoryContext,
  tools: memoryTools(store),
  states: { Planning: recallAtStart(store) },
});

for (const [user, message] of [
  ["ada", "I never drink coffee."],
  ["bob", "What shall I order?"],
  ["ada", "What shall I order?"],
] as const) {
  const { text } = await runTask(agent, message, { context: { user } });
  const notes = llm.requests.at(-1)?.messages.filter(({ role }) => role === "note") ?? [];
  console.log(`${user}: ${text} (facts before the first request: ${notes.length})`);
}
