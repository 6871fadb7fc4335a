// An agent with 500 tools sends only a search of them, and those that the model has found.
// Run it: node_modules/.bin/node --conditions=@moora/source examples/many-tools.ts
import { defineAgent, defineTool, runTask } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { z } from "zod";

const toolFor = (thing: string) =>
  defineTool({
    name: `count_${thing}`,
    description: `Counts the ${thing} in the shop.`,
    input: z.object({}),
    execute: () => `42 ${thing}`,
  });
const tools = Array.from({ length: 500 }, (_, index) => toolFor(`things_${index}`)).concat(toolFor("lamps"));

/** In place of a model: it searches, calls what it has found, and answers. */
const llm = new MockLlmCaller([
  callsTools([{ name: "search_tools", arguments: { query: "How many lamps are there?" } }]),
  callsTools([{ name: "count_lamps" }]),
  answers("There are 42 lamps."),
]);

const { text } = await runTask(defineAgent({ llm, tools }), "How many lamps do you have?");
for (const request of llm.requests) console.log(request.tools.map(({ name }) => name).join(", "));
console.log(text);
