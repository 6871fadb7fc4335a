import type { HostScenario } from "./host-case.ts";
import { ask, decide, end, group, hold, question, reach, releaseAll } from "./scenario-rows.ts";

/** Two sessions at the same time, in which the model asks for calls with the same ids. */
const pairs = group("two sessions", {
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
  "a viewer of one session does not receive the text of another": {
    needs: ["stream"],
    steps: [{ type: "ask-other", message: "Four five six." }, ask("One two three."), end],
    expects: { control: "Done", streamed: "One two three." },
  },
});

/** A session that is removed, and the next one of its id. */
const removals = group("removal", {
  "the calls of a session have other idempotency keys than those of a removed one of its id": {
    needs: ["remove"],
    steps: [ask("call write"), end, { type: "remove" }, ask("call write"), end],
    expects: { control: "Done", messages: ["call write"], keys: { model: 4, write: 2 } },
  },
  "a decision on a question of a removed session does not apply in the next one of its id": {
    needs: ["remove"],
    steps: [
      ask("call transfer"),
      question,
      { type: "remove" },
      ask("call transfer"),
      question,
      { type: "decide-removed" },
      decide("approve"),
      end,
    ],
    expects: { control: "Done", moments: { begin: { transfer: 1 } }, results: { transfer: "success" } },
  },
  "a session is removed while its tool runs, and the next one of its id starts anew": {
    needs: ["remove"],
    steps: [
      hold("read"),
      ask("call read"),
      reach("read"),
      { type: "remove" },
      ask("call read"),
      reach("read", 2),
      releaseAll,
      end,
    ],
    expects: { control: "Done", results: { read: "success" }, messages: ["call read"], keys: { read: 2 } },
  },
});

/** The scenarios of two sessions, side by side or one after the other. */
export const sessionScenarios: readonly HostScenario[] = [...pairs, ...removals];
