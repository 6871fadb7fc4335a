import { group, type HostScenario } from "./host-case.ts";
import { ask, cancel, hold, releaseAll, reach, aborted, end, restart } from "./steps.ts";

/** The scenarios of a custom state, whose handler calls a tool and changes the data. */
export const stateScenarios: readonly HostScenario[] = group("custom states", {
  "the handler of a custom state runs once, and the loop continues from its decision": {
    steps: [ask("call break"), end],
    expects: {
      control: "Done",
      answer: "call break",
      data: { count: 1 },
      moments: { begin: { model: 2, break: 1, repair: 1, read: 1 } },
    },
  },
  "a cancel aborts the handler of a custom state": {
    steps: [hold("repair"), ask("call break"), reach("repair"), cancel, end, aborted("repair"), releaseAll],
    expects: {
      control: "Error",
      failure: "Cancelled",
      data: { count: 0 },
      moments: { aborted: { repair: 1 } },
    },
  },
  "a handler that a crash interrupted runs again with its key, and its tool as well": {
    needs: ["kill"],
    steps: [hold("read", "end"), ask("call break"), reach("read", 1, "end"), restart, releaseAll, end],
    expects: {
      control: "Done",
      answer: "call break",
      data: { count: 1 },
      moments: { begin: { model: 2, break: 1, repair: 2, read: 2 } },
      keys: { repair: 1, read: 1 },
    },
  },
});
