import { defineAgent, defineTool, type Agent } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";

/** An agent that calls a tool which runs once, and a tool that may run again, and then answers. */
export const workerAgent = (work: (attempt: number) => Promise<void>): Agent =>
  defineAgent({
    name: "worker",
    llm: new MockLlmCaller(({ messages }) =>
      messages.some(({ role }) => role === "assistant")
        ? answers("It is done.")
        : callsTools([{ name: "work", arguments: {} }]),
    ),
    tools: [
      defineTool({
        name: "work",
        description: "Works.",
        input: { type: "object" },
        replay: "once",
        async execute(_, { attempt }) {
          await work(attempt);
          return "worked";
        },
      }),
    ],
  });
