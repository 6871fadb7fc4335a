import { convertedCount, strictRelease } from "./agent.ts";
import { group, type HostScenario } from "./host-case.ts";
import {
  ask,
  askBoth,
  decide,
  hold,
  releaseAll,
  reach,
  question,
  end,
  restartAs,
  restart,
  takeOver,
} from "./steps.ts";

const posters = group("two posters", {
  "messages that two processes post at the same time are both answered": {
    needs: ["second-poster"],
    steps: [askBoth("One.", "Two."), end],
    expects: { control: "Done", messages: ["One.", "Two."] },
  },
  "a message is accepted from a process that does not run the session": {
    needs: ["second-poster"],
    steps: [ask("One."), end, ask("Two.", "elsewhere"), end],
    expects: { control: "Done", answer: "Two." },
  },
});

const crashes = group("crashes", {
  "a model call that a crash interrupted is repeated": {
    needs: ["kill"],
    steps: [hold("model"), ask("One."), reach("model"), restart, releaseAll, end],
    expects: { control: "Done", answer: "One.", moments: { begin: { model: 2 } } },
  },
  "a process that dies before or after any record leaves a session that continues": {
    needs: ["death-at-commit", "kill"],
    steps: [ask("call read write pay"), end],
    expects: { control: "Done" },
    deaths: "every-commit",
  },
});

const owners = group("take-over", {
  "results of a process that has lost the session do not count": {
    needs: ["take-over"],
    steps: [
      hold("read"),
      hold("pay"),
      ask("call read pay"),
      reach("read"),
      reach("pay"),
      takeOver,
      reach("read", 2),
      releaseAll,
      end,
    ],
    expects: {
      control: "Done",
      moments: { begin: { read: 2, pay: 1 } },
      results: { read: "success", pay: "outcome-unknown" },
    },
  },
  "a later release continues the open work of an earlier one": {
    needs: ["release", "kill"],
    steps: [ask("call transfer"), question, restartAs(2), question, decide("approve"), end],
    expects: { control: "Done", systemPrompt: "Release 2.", results: { transfer: "success" } },
  },
  "a later release that forbids what an earlier one has begun is obeyed": {
    needs: ["release", "kill"],
    steps: [
      hold("read"),
      hold("write"),
      ask("call read write"),
      reach("read"),
      reach("write"),
      restartAs(strictRelease),
      releaseAll,
      end,
    ],
    expects: {
      control: "Done",
      moments: { begin: { read: 1, write: 1 } },
      results: { read: "outcome-unknown", write: "outcome-unknown" },
    },
  },
  "a tool of a later release sees the data of an earlier one as the later one has it": {
    needs: ["release", "kill"],
    steps: [hold("count"), ask("call count"), reach("count"), restartAs(strictRelease), releaseAll, end],
    expects: { control: "Done", moments: { begin: { count: 2 } }, data: { count: convertedCount + 1 } },
  },
});

/** The scenarios of several processes. */
export const processScenarios: readonly HostScenario[] = [...posters, ...crashes, ...owners];
