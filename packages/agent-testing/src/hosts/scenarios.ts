import { questionExpiresAfterMs } from "./agent.ts";
import { batchScenarios } from "./batch-scenarios.ts";
import { cancelScenarios } from "./cancel-scenarios.ts";
import { group, type HostScenario } from "./host-case.ts";
import {
  ask,
  decide,
  hold,
  releaseAll,
  reach,
  reported,
  question,
  end,
  restartAs,
  restart,
  pass,
} from "./steps.ts";
import { processScenarios } from "./process-scenarios.ts";
import { stateScenarios } from "./state-scenarios.ts";
import { inputScenarios } from "./input-scenarios.ts";
import { sessionScenarios } from "./session-scenarios.ts";

const running = group("start and stream", {
  "a message is answered": {
    steps: [ask("Good morning."), end],
    expects: { control: "Done", answer: "Good morning.", moments: { begin: { model: 1 } } },
  },
  "a later message continues the session": {
    steps: [ask("One."), end, ask("Two."), end],
    expects: { control: "Done", answer: "Two.", messages: ["One.", "Two."] },
  },
  "a viewer receives the text while the model streams it": {
    needs: ["stream"],
    steps: [ask("One two three."), end],
    expects: { control: "Done", streamed: "One two three." },
  },
});

/** In milliseconds. */
const day = 24 * 60 * 60 * 1_000;

const tools = group("tools in parallel", {
  "three tools of one turn run at the same time": {
    steps: [
      hold("read"),
      hold("write"),
      hold("pay"),
      ask("call read write pay"),
      reach("read"),
      reach("write"),
      reach("pay"),
      releaseAll,
      end,
    ],
    expects: { control: "Done", results: { read: "success", write: "success", pay: "success" } },
  },
  "a result is part of the session before the other tools have ended": {
    steps: [hold("read"), hold("pay"), ask("call read write pay"), reported("write"), releaseAll, end],
    expects: { control: "Done", moments: { begin: { read: 1, write: 1, pay: 1 } } },
  },
  "the signal of a tool whose result is part of the session does not abort": {
    steps: [ask("call read write pay"), end, ask("Two."), end, ask("Three."), end],
    expects: {
      control: "Done",
      results: { read: "success", write: "success", pay: "success" },
      moments: { undone: { read: 0, write: 0, pay: 0 } },
    },
  },
});

const approvals = group("approvals", {
  "a call that needs an approval waits for it, and runs once": {
    steps: [ask("call transfer"), question, decide("approve"), end],
    expects: { control: "Done", moments: { begin: { transfer: 1 } }, results: { transfer: "success" } },
  },
  "a rejected call does not run": {
    steps: [ask("call transfer"), question, decide({ reject: "No." }), end],
    expects: { control: "Done", moments: { begin: { transfer: 0 } }, results: { transfer: "rejected" } },
  },
  "of the same decision sent three times, one applies": {
    steps: [ask("call transfer"), question, decide("approve", 3), end],
    expects: { control: "Done", moments: { begin: { transfer: 1 } } },
  },
  "a question outlives the process that asked it": {
    needs: ["kill"],
    steps: [ask("call transfer"), question, restart, question, decide("approve"), end],
    expects: { control: "Done", moments: { begin: { transfer: 1 } }, results: { transfer: "success" } },
  },
  "an approval that is given days later starts the call": {
    needs: ["clock"],
    steps: [ask("call transfer"), question, pass(3 * day), decide("approve"), end],
    expects: { control: "Done", moments: { begin: { transfer: 1 } }, results: { transfer: "success" } },
  },
});

const timers = group("timers", {
  "a failed model call is repeated after its delay": {
    steps: [ask("fail"), end],
    expects: { control: "Done", answer: "fail", moments: { begin: { model: 2 } } },
  },
  "a question without an answer expires": {
    needs: ["clock"],
    steps: [ask("call transfer"), question, pass(questionExpiresAfterMs + 1), end],
    expects: { control: "Done", moments: { begin: { transfer: 0 } }, results: { transfer: "expired" } },
  },
  "a timer that became due while no process ran fires at the next start": {
    needs: ["clock", "kill"],
    steps: [ask("call transfer"), question, restartAs(1, questionExpiresAfterMs + 1), end],
    expects: { control: "Done", moments: { begin: { transfer: 0 } }, results: { transfer: "expired" } },
  },
});

const budgets = group("budget", {
  "a session that has used its budget fails before the next model call": {
    steps: [ask("spend 10000"), end, ask("Two."), end],
    expects: { control: "Error", failure: "BudgetExceeded", moments: { begin: { model: 1 } } },
  },
  "a budget also holds after a restart": {
    needs: ["kill"],
    steps: [ask("spend 10000"), end, restart, ask("Two."), end],
    expects: { control: "Error", failure: "BudgetExceeded", moments: { begin: { model: 1 } } },
  },
});

const data = group("application data", {
  "changes of tools that run in parallel are all kept": {
    steps: [hold("count"), ask("call count count count"), reach("count", 3), releaseAll, end],
    expects: { control: "Done", data: { count: 3 } },
  },
  "a change is kept with the result of its call, or not at all": {
    needs: ["kill"],
    steps: [hold("count", "end"), ask("call count"), reach("count", 1, "end"), restart, releaseAll, end],
    expects: { control: "Done", data: { count: 1 }, moments: { begin: { count: 2 } } },
  },
});

/** All scenarios, in groups. */
export const hostScenarios: readonly HostScenario[] = [
  ...running,
  ...tools,
  ...approvals,
  ...cancelScenarios,
  ...timers,
  ...budgets,
  ...data,
  ...stateScenarios,
  ...inputScenarios,
  ...sessionScenarios,
  ...processScenarios,
  ...batchScenarios,
];
