import type { HostScenario } from "./host-case.ts";
import { ask, end, group } from "./scenario-rows.ts";

/** The scenarios of inputs that are doubled, do not apply or are refused: the caller must learn it. */
export const inputScenarios: readonly HostScenario[] = group("what a post reports", {
  "of the same message posted three times at once, one applies": {
    steps: [{ type: "ask-at-once", message: "One.", times: 3 }, end],
    expects: { control: "Done", answer: "One.", messages: ["One."], moments: { begin: { model: 1 } } },
  },
  "of the same message posted by two processes at once, one applies": {
    needs: ["second-poster"],
    steps: [{ type: "ask-at-once", message: "One.", times: 2, from: "elsewhere" }, end],
    expects: { control: "Done", answer: "One.", messages: ["One."], moments: { begin: { model: 1 } } },
  },
  "an input that does not apply is not reported as applied": {
    steps: [ask("One."), end, { type: "post-ignored" }],
    expects: { control: "Done", answer: "One.", messages: ["One."], moments: { begin: { model: 1 } } },
  },
  "an input that no caller may post is not reported as applied": {
    steps: [ask("One."), end, { type: "post-refused" }],
    expects: { control: "Done", answer: "One.", messages: ["One."], moments: { begin: { model: 1 } } },
  },
});
