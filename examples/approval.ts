// A tool that asks first. The approval binds to exactly what was shown; the model reads what was decided, and why.
// Run it: node_modules/.bin/node --conditions=@moora/source examples/approval.ts
import { defineAgent, defineTool, runTask } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { z } from "zod";

const refund = defineTool({
  name: "refund",
  description: "Pays an order back.",
  risk: "high",
  replay: "keyed",
  input: z.object({ order: z.number(), euros: z.number() }),
  execute: ({ order, euros }, { idempotencyKey, approvedBy }) => {
    console.log(
      `  paying ${euros} euros for order ${order}, approved by ${approvedBy}, once per key: ${idempotencyKey !== ""}`,
    );
    return { paid: euros };
  },
});

const agent = defineAgent({
  llm: new MockLlmCaller([
    callsTools([{ name: "refund", arguments: { order: 7, euros: 500 } }]),
    answers("I have refunded 50 euros for order 7."),
  ]),
  tools: [refund],
  config: { approval: { policy: { above: "high" } } },
});

const run = runTask(agent, "Refund order 7.");
for await (const event of run) {
  if (event.type === "ApprovalRequested") {
    console.log("asked:", event.name, JSON.stringify(event.parameters));
    await event.decide({ approve: { order: 7, euros: 50 } }, "ada");
  }
  if (event.type === "ToolCallFinished") console.log("result:", JSON.stringify(event.result));
}
console.log((await run).answer);
