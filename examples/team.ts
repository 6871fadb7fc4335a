// Customer support by two agents: one finds out what is needed and hands the conversation over, the other pays back after an approval.
// The process "crashes" after each record in turn; the next one continues with the agent that has the conversation.
// Run it: node_modules/.bin/node --conditions=@moora/source examples/team.ts
import { defineAgent, defineTeam, defineTool, forkSession, openSession, readSession } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { z } from "zod";

const refund = defineTool({
  name: "refund",
  description: "Pays an order back.",
  replay: "keyed",
  approval: "always",
  input: z.object({ order: z.number() }),
  execute: ({ order }) => `Order ${order} is paid back.`,
});

/** A scripted model answers by what it sees, so that it can continue at any record. */
const triage = defineAgent({
  llm: new MockLlmCaller(() =>
    callsTools([{ name: "hand_off", arguments: { agent: "refunds", message: "Order 7, damaged." } }]),
  ),
});
const refunds = defineAgent({
  llm: new MockLlmCaller(({ messages }) =>
    messages.some(({ role }) => role === "assistant")
      ? answers("You get the money for order 7 back.")
      : callsTools([{ name: "refund", arguments: { order: 7 } }]),
  ),
  tools: [refund],
});

const office = defineTeam({
  name: "office",
  agents: {
    triage: { agent: triage, description: "Finds out what the customer needs." },
    refunds: { agent: refunds, description: "Pays orders back." },
  },
  start: "triage",
});

const log = memoryLog();
const onApproval = () => "approve" as const;
const session = await openSession(office, { log, id: "ada", onApproval });
session.onEvent((event) => {
  if (event.type === "HandedOff") console.log(`${event.from} hands over to ${event.to}: ${event.message}`);
});
console.log((await session.ask("Order 7 arrived broken.")).text);
await session.close();

const { inputs } = await readSession(log, "ada");
const first = inputs.findIndex(({ type }) => type === "user-message-received") + 1;
const ends = new Set<string>();
for (let seq = first; seq <= inputs.length; seq += 1) {
  await forkSession(log, "ada", seq, { as: `crash-${seq}`, open: "rerun" });
  const resumed = await openSession(office, { log, id: `crash-${seq}`, onApproval });
  await resumed.running();
  const { activeAgent, transcript, reActContext } = resumed.current();
  const handoffs = transcript.filter(({ type }) => type === "handoff").length;
  ends.add(`${activeAgent}, ${handoffs} handoff, ${reActContext.control.type}`);
  await resumed.close();
}
console.log("after a crash at any record:", [...ends].join(" | "));
