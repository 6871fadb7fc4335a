/** Four calls that wait for a person: all 24 orders of all 16 combinations of decisions, each contradicted at once. */
import { initialAgentState, type AgentInput } from "@moora/agent-core-state-machine";
import { recordOf } from "@moora/agent-core-state-machine/internal";
import { asked, callsMade, decided, started, succeeded } from "@moora/agent-testing";
import { proveEveryOrder } from "./parts/every-order.ts";

const callIds = ["call_1", "call_2", "call_3", "call_4"] as const;
const pay = { description: "A tool.", schema: '{"type":"object"}', risk: "high" } as const;

const approved = (id: string): AgentInput => decided(id, "approved");
const rejected = (id: string): AgentInput => decided(id, "rejected");

await proveEveryOrder({
  name: "four approvals",
  file: import.meta.filename,
  from: initialAgentState({ tools: { pay }, config: { approval: { policy: "always" } } }),
  opening: [
    asked("Pay them all."),
    callsMade("plan/1/1/1", Object.fromEntries(callIds.map((id) => [id, { name: "pay" }]))),
  ],
  callIds,
  outcomes: [
    (id) => [approved(id), rejected(id), started(id), succeeded(id, `paid ${id}`)],
    (id) => [rejected(id), approved(id), started(id), succeeded(id, `paid ${id}`)],
  ],
  complaint(state, callId, outcome) {
    const ran = recordOf(state, callId)?.result?.isSuccess === true;
    if (ran && outcome === 1) return `call ${callId} ran though it was rejected`;
    return !ran && outcome === 0 ? `call ${callId} did not run though it was approved` : undefined;
  },
});
