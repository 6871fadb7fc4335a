/** A refund that went wrong in production becomes a case: the agent runs again from there, and no tool runs. */
import { evaluate } from "@moora/agent-testing";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { defineAgent, defineTool, exportSession, memoryLog, openSession, type LlmCaller } from "moora";
import * as z from "zod";

const refund = defineTool({
  name: "refund",
  description: "Refunds an order.",
  input: z.object({ order: z.number() }),
  execute: ({ order }) => `order ${order} is refunded`,
});
const shop = (llm: LlmCaller) => defineAgent({ name: "shop", llm, tools: [refund] });
const calls = callsTools([{ name: "refund", arguments: { order: 7 } }]);

const log = memoryLog();
const session = await openSession(shop(new MockLlmCaller([calls, answers("Done.")])), { log, id: "order-7" });
await session.ask("Refund order 7.");
await session.close();

const dataset = [
  {
    name: "one",
    session: await exportSession(log, "order-7"),
    expect: { contains: "refunded", tools: ["refund"] },
  },
];
const better = shop(new MockLlmCaller([calls, answers("Order 7 is refunded.")])); // another prompt or model
console.log((await evaluate({ agent: better, dataset })).toText());
