import { fault, type Fault } from "./fault.ts";

const pauses = ["packages/agent/test/session/pause.test.ts"];

const simulatedPauses = ["packages/agent-testing/test/simulation/pauses.long.test.ts"];

/** Faults of pauses: what starts in one, and who may end it. */
export const pauseFaults: readonly Fault[] = [
  fault(
    170,
    "a paused session wants model calls",
    {
      file: "packages/agent-core-effects/src/open-effects.ts",
      text: '    isPausable: true,\n  },\n  "call-tool": {',
      replacement: '  },\n  "call-tool": {',
    },
    pauses,
    /a paused session > lets a call end that runs/,
  ),
  fault(
    171,
    "a resume of the caller ends a pause that the sub-agent's own host has made",
    {
      file: "packages/agent/src/session/caller-pauses.ts",
      text: "paused?.reason === pausedWithCaller",
      replacement: "paused != null",
    },
    pauses,
    /a sub-agent of a paused session > keeps a pause of its own/,
  ),
  fault(
    207,
    "a tool that the handler of a custom state calls begins in a pause",
    {
      file: "packages/agent-core-effects/src/run/handler-tool-call.ts",
      text: "untilResumed === undefined || !mayBePaused(host)",
      replacement: "untilResumed === undefined || mayBePaused(host)",
    },
    simulatedPauses,
    /a simulated pause > (breaks no law|holds the next tool of a handler)/,
  ),
  fault(
    208,
    "a retry that becomes due in a pause is lost",
    {
      file: "packages/agent-core-state-machine/src/inputs/deadline-passed.ts",
      text: 'return wait === undefined ? "wrong-key" :',
      replacement: 'return wait === undefined || state.paused != null ? "wrong-key" :',
    },
    simulatedPauses,
    /a simulated pause > keeps a retry that becomes due in it/,
  ),
  fault(
    209,
    "a sub-agent that is opened while its caller is paused starts its work",
    {
      file: "packages/agent/src/session/sub-agents.ts",
      text: "return caller === undefined ? undefined : caller.#host.hold(isStarted);",
      replacement: "return undefined;",
    },
    ["packages/agent/test/durable/sub-agent-owners.test.ts"],
    /opened while its caller is paused > starts nothing, and continues when the caller is resumed after that/,
  ),
];
