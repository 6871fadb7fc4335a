import { defineAgent, defineTool, type Agent } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";

/** An agent that pays for each message, if it may. Its question expires after this number of milliseconds. */
export const askingAgent = (name: string, expiresAfterMs: number): Agent =>
  defineAgent({
    name,
    llm: new MockLlmCaller(({ messages }) =>
      messages.at(-1)?.role === "user" ? callsTools([{ name: "pay" }]) : answers("Done."),
    ),
    tools: [
      defineTool({
        name: "pay",
        description: "Pays.",
        input: { type: "object", properties: {} },
        replay: "once",
        approval: "always",
        execute: () => "Paid.",
      }),
    ],
    config: { approval: { policy: "never", expiresAfterMs } },
  });

/** In milliseconds: longer than a timer of JavaScript can be. */
export const thirtyDays: number = 30 * 24 * 60 * 60 * 1_000;
