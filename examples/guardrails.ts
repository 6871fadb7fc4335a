// A guardrail that lets a person decide: a message about money waits until a person has looked at it.
// Run it: node_modules/.bin/node --conditions=@moora/source examples/guardrails.ts
import { defineAgent, startSession } from "@moora/agent";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { secretGuardrail } from "@moora/tools";

const agent = defineAgent({
  llm: new MockLlmCaller(({ messages }) => answers(`I have read: ${JSON.stringify(messages[0])}`)),
  guardrails: [
    secretGuardrail(),
    { name: "money", input: (text) => (text.includes("euros") ? { ask: "It is about money." } : undefined) },
  ],
});

await using session = startSession(agent);
session.onEvent((event) => {
  if (event.type !== "Paused") return;
  console.log("paused:", event.reason);
  void session.resume();
});
console.log((await session.ask("Send 5 euros with sk-live-0123456789abcdef.")).text);
