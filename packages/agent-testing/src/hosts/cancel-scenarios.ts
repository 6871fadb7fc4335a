import { witnessCalls } from "./case-run.ts";
import type { HostScenario, HostStep } from "./host-case.ts";
import { aborted, ask, end, group, hold, question, reach, releaseAll } from "./scenario-rows.ts";

const pauseAndResume: readonly HostStep[] = [{ type: "pause" }, { type: "resume" }];

/** The scenarios of cancels and pauses. */
export const cancelScenarios: readonly HostScenario[] = group("cancel", {
  "a cancel ends the loop and aborts the running tools": {
    steps: [
      hold("read"),
      hold("write"),
      ask("call read write"),
      reach("read"),
      reach("write"),
      { type: "cancel" },
      end,
      aborted("read"),
      aborted("write"),
      releaseAll,
    ],
    expects: { control: "Error", failure: "Cancelled", moments: { aborted: { read: 1, write: 1 } } },
  },
  "a tool that runs on after a cancel cannot change the data": {
    steps: [
      hold("claim"),
      ask("call claim"),
      reach("claim"),
      { type: "cancel" },
      end,
      releaseAll,
      { type: "reach", work: "claim", moment: "end", times: 1 },
    ],
    expects: { control: "Error", failure: "Cancelled", count: 0, moments: { aborted: { claim: 1 } } },
  },
  "a cancel ends a loop that waits for an approval": {
    steps: [ask("call transfer"), question, { type: "cancel" }, end],
    expects: { control: "Error", failure: "Cancelled", moments: { begin: { transfer: 0 } } },
  },
  "a canceled session answers the next message": {
    steps: [
      hold("model"),
      ask("One."),
      reach("model"),
      { type: "cancel" },
      end,
      releaseAll,
      ask("Two."),
      end,
    ],
    expects: { control: "Done", answer: "Two." },
  },
  "a paused session starts nothing until it is resumed": {
    steps: [
      ask("One."),
      end,
      { type: "pause" },
      ask("Two."),
      { type: "nothing-begins" },
      { type: "resume" },
      end,
    ],
    expects: { control: "Done", answer: "Two.", moments: { begin: { model: 2 + witnessCalls } } },
  },
  "a tool that runs when its session is paused ends, and what follows waits": {
    steps: [
      hold("read"),
      ask("call read"),
      reach("read"),
      { type: "pause" },
      releaseAll,
      { type: "reported", tool: "read" },
      { type: "nothing-begins" },
      { type: "resume" },
      end,
    ],
    expects: {
      control: "Done",
      results: { read: "success" },
      moments: { begin: { model: 2 + witnessCalls, read: 1 } },
    },
  },
  "a session that is paused and resumed while its work begins continues, and repeats no call": {
    steps: [
      { type: "hold", work: "model", moment: "end" },
      ask("call read write pay"),
      { type: "reach", work: "model", moment: "end", times: 1 },
      releaseAll,
      ...pauseAndResume,
      end,
      ...["One.", "Two.", "Three.", "Four.", "Five."].flatMap((text) => [ask(text), ...pauseAndResume, end]),
    ],
    expects: {
      control: "Done",
      answer: "Five.",
      results: { read: "success", write: "success", pay: "success" },
    },
  },
});
