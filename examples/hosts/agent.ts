/** The agent of all programs in this folder: each runs it on another host, unchanged. */
import { defineAgent, defineTool } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import * as z from "zod";

const weather = defineTool({
  name: "weather",
  description: "The weather in a city now.",
  input: z.object({ city: z.string() }),
  replay: "safe",
  execute: ({ city }) => ({ city, celsius: -3 }),
});

// A scripted model, so that the programs need no key. Any other takes its place, such as openai("gpt-5.5").
const llm = new MockLlmCaller(({ messages }) =>
  messages.at(-1)?.role === "user"
    ? callsTools([{ name: "weather", arguments: { city: "Oslo" } }])
    : answers("It is -3 degrees in Oslo."),
);

export const agent = defineAgent({ name: "forecast", llm, tools: [weather] });
