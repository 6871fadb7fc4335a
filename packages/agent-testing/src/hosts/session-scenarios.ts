import type { HostScenario } from "./host-case.ts";
import { ask, decide, end, group, question } from "./scenario-rows.ts";

/** The scenarios of two sessions, in which the model asks for calls with the same ids. */
export const sessionScenarios: readonly HostScenario[] = group("two sessions", {
  "calls of two sessions have different idempotency keys": {
    steps: [ask("call write"), end, { type: "ask-other", message: "call write" }],
    expects: { control: "Done", keys: { model: 4, write: 2 } },
  },
  "a decision on a question of one session does not apply in another": {
    steps: [
      ask("call transfer"),
      question,
      { type: "decide-other", message: "call transfer" },
      decide("approve"),
      end,
    ],
    expects: { control: "Done", moments: { begin: { transfer: 1 } }, results: { transfer: "success" } },
  },
});
