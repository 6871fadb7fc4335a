import { group, type HostScenario } from "./host-case.ts";
import {
  ask,
  decide,
  askOther,
  decideOther,
  remove,
  decideRemoved,
  hold,
  releaseAll,
  reach,
  question,
  end,
} from "./steps.ts";

/** Two sessions at the same time, in which the model asks for calls with the same ids. */
const pairs = group("two sessions", {
  "calls of two sessions have different idempotency keys": {
    steps: [ask("call write"), end, askOther("call write")],
    expects: { control: "Done", keys: { model: 4, write: 2 } },
  },
  "a decision on a question of one session does not apply in another": {
    steps: [ask("call transfer"), question, decideOther("call transfer"), decide("approve"), end],
    expects: { control: "Done", moments: { begin: { transfer: 1 } }, results: { transfer: "success" } },
  },
  "a viewer of one session does not receive the text of another": {
    needs: ["stream"],
    steps: [askOther("Four five six."), ask("One two three."), end],
    expects: { control: "Done", streamed: "One two three." },
  },
});

/** A session that is removed, and the next one of its id. */
const removals = group("removal", {
  "the calls of a session have other idempotency keys than those of a removed one of its id": {
    needs: ["remove"],
    steps: [ask("call write"), end, remove, ask("call write"), end],
    expects: { control: "Done", messages: ["call write"], keys: { model: 4, write: 2 } },
  },
  "a decision on a question of a removed session does not apply in the next one of its id": {
    needs: ["remove"],
    steps: [
      ask("call transfer"),
      question,
      remove,
      ask("call transfer"),
      question,
      decideRemoved,
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
      remove,
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
