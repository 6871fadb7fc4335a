// An agent that wakes itself up: the model sets a message to its own session, which comes a moment later.
// Run it: node_modules/.bin/node --conditions=@moora/source examples/schedule.ts
import { defineAgent, scheduleTool, startSession } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";

const wakeUp = { action: "set", message: "Look at the build again.", inMinutes: 0.01 };
const llm = new MockLlmCaller([
  callsTools([{ name: "schedule", arguments: wakeUp }]),
  answers("It is still running. I will look again."),
  answers("The build is green."),
]);

await using session = startSession(defineAgent({ llm, tools: [scheduleTool()] }));
console.log((await session.ask("Watch the build.")).text);

const woken = Promise.withResolvers<string>();
session.onEvent((event) => {
  if (event.type === "FinalAnswer") woken.resolve(event.answer);
});
console.log(await woken.promise);
console.log(
  session
    .current()
    .messages.map(({ role, scheduled }) => (scheduled === undefined ? role : "agent"))
    .join(", "),
);
