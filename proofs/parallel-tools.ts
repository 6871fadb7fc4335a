/** Five tools at once: in all 120 orders, with all 1,024 combinations of outcomes. */
import { initialAgentState } from "@moora/agent-core-state-machine";
import { recordOf } from "@moora/agent-core-state-machine/internal";
import { asked, callsMade, failed, interrupted, started, succeeded } from "@moora/agent-testing";
import { proveEveryOrder } from "./parts/every-order.ts";

const callIds = ["call_1", "call_2", "call_3", "call_4", "call_5"] as const;
const look = { description: "A tool.", schema: '{"type":"object"}', replay: "safe" } as const;
const succeeds = [true, false, true, true];

await proveEveryOrder({
  name: "five parallel tools",
  file: import.meta.filename,
  from: initialAgentState({ tools: { look } }),
  opening: [
    asked("Look everywhere."),
    callsMade("plan/1/1/1", Object.fromEntries(callIds.map((id) => [id, { name: "look" }]))),
    ...callIds.map((id) => started(id)),
  ],
  callIds,
  outcomes: [
    (id) => [succeeded(id, `found ${id}`)],
    (id) => [failed(id, `no ${id}`)],
    // Its outcome is unknown, so it runs again.
    (id) => [interrupted(id, "unknown"), started(id, 2), succeeded(id, `found ${id} in the end`)],
    // It ends three times, and the first counts.
    (id) => [succeeded(id, `found ${id} once`), failed(id, "late"), succeeded(id, "later")],
  ],
  complaint(state, callId, outcome) {
    const isSuccess = recordOf(state, callId)?.result?.isSuccess;
    return isSuccess === succeeds[outcome] ? undefined : `call ${callId} has another result`;
  },
});
