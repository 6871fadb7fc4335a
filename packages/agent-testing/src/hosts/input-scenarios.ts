import { group, type HostScenario } from "./host-case.ts";
import { ask, askAtOnce, postIgnored, postRefused, end } from "./steps.ts";

/** The scenarios of inputs that are doubled, do not apply or are refused: the caller must learn it. */
export const inputScenarios: readonly HostScenario[] = group("what a post reports", {
  "of the same message posted three times at once, one applies": {
    steps: [askAtOnce("One.", 3), end],
    expects: { control: "Done", answer: "One.", messages: ["One."], moments: { begin: { model: 1 } } },
  },
  "of the same message posted by two processes at once, one applies": {
    needs: ["second-poster"],
    steps: [askAtOnce("One.", 2, "elsewhere"), end],
    expects: { control: "Done", answer: "One.", messages: ["One."], moments: { begin: { model: 1 } } },
  },
  "an input that does not apply is not reported as applied": {
    steps: [ask("One."), end, postIgnored],
    expects: { control: "Done", answer: "One.", messages: ["One."], moments: { begin: { model: 1 } } },
  },
  "an input that no caller may post is not reported as applied": {
    steps: [ask("One."), end, postRefused],
    expects: { control: "Done", answer: "One.", messages: ["One."], moments: { begin: { model: 1 } } },
  },
});
