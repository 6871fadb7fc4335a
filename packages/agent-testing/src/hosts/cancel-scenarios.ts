import { group, type HostScenario, type HostStep } from "./host-case.ts";
import {
  ask,
  cancel,
  pause,
  resume,
  witnessCalls,
  nothingBegins,
  hold,
  releaseAll,
  reach,
  aborted,
  reported,
  question,
  end,
} from "./steps.ts";

const pauseAndResume: readonly HostStep[] = [pause, resume];

/** The scenarios of cancels and pauses. */
export const cancelScenarios: readonly HostScenario[] = group("cancel", {
  "a cancel ends the loop and aborts the running tools": {
    steps: [
      hold("read"),
      hold("write"),
      ask("call read write"),
      reach("read"),
      reach("write"),
      cancel,
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
      cancel,
      end,
      releaseAll,
      reach("claim", 1, "end"),
    ],
    expects: {
      control: "Error",
      failure: "Cancelled",
      data: { count: 0 },
      moments: { aborted: { claim: 1 } },
    },
  },
  "a cancel ends a loop that waits for an approval": {
    steps: [ask("call transfer"), question, cancel, end],
    expects: { control: "Error", failure: "Cancelled", moments: { begin: { transfer: 0 } } },
  },
  "a canceled session answers the next message": {
    steps: [hold("model"), ask("One."), reach("model"), cancel, end, releaseAll, ask("Two."), end],
    expects: { control: "Done", answer: "Two." },
  },
  "a paused session starts nothing until it is resumed": {
    steps: [ask("One."), end, pause, ask("Two."), nothingBegins, resume, end],
    expects: { control: "Done", answer: "Two.", moments: { begin: { model: 2 + witnessCalls } } },
  },
  "a tool that runs when its session is paused ends, and what follows waits": {
    steps: [
      hold("read"),
      ask("call read"),
      reach("read"),
      pause,
      releaseAll,
      reported("read"),
      nothingBegins,
      resume,
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
      hold("model", "end"),
      ask("call read write pay"),
      reach("model", 1, "end"),
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
