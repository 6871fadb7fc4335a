import { fault, type Fault } from "./fault.ts";

const core = "packages/agent-core-state-machine/src";
const effects = "packages/agent-core-effects/src";
const durable = "packages/agent/src/durable";
const session = "packages/agent/src/session";
const tests = "packages/agent/test";
const simulation = "packages/agent-testing/test/simulation/core-defects.test.ts";

/** A run begins in a microtask, even if it was aborted meanwhile. */
const notAborted = {
  file: `${session}/effect-run.ts`,
  text: "if (host.isAborted()) done();",
  replacement: "if (host.isAborted() && host.intended !== true) done();",
};

/** Faults of sessions: who may dispatch what and when, what a decision counts for, and what is spent. */
export const sessionFaults: readonly Fault[] = [
  fault(
    63,
    "a lease is renewed only when its time is over",
    {
      file: `${durable}/lease-keeper.ts`,
      text: "Math.floor(ttlMs / 3)",
      replacement: "ttlMs",
    },
    [`${tests}/durable/leases.test.ts`],
    /the lease of an owner that lives > is renewed long before its time is over/,
  ),
  {
    number: 64,
    name: "a tool runs although its call was cancelled when its start became durable",
    changes: [
      notAborted,
      {
        file: `${effects}/run/call-tool.ts`,
        text: "host))) return;\n  if (isAborted(host)) return;",
        replacement: "host))) return;",
      },
    ],
    tests: [`${tests}/durable/cancel-at-start.test.ts`],
    caughtBy:
      /a cancel that arrives when the start of an effect has become durable > keeps a tool from running/,
  },
  {
    number: 87,
    name: "a model is called although the loop was cancelled when the call became durable",
    changes: [
      notAborted,
      {
        file: `${effects}/run/call-llm.ts`,
        text: "if (request === undefined || isAborted(host)) return;",
        replacement: "if (request === undefined) return;",
      },
    ],
    tests: [`${tests}/durable/cancel-at-start.test.ts`],
    caughtBy:
      /a cancel that arrives when the start of an effect has become durable > keeps a model from being called/,
  },
  {
    number: 88,
    name: "a handler runs although the loop was cancelled when its start became durable",
    changes: [
      notAborted,
      {
        file: `${effects}/run/run-state.ts`,
        text: "host))) return;\n  if (isAborted(host)) return;",
        replacement: "host))) return;",
      },
    ],
    tests: [`${tests}/durable/cancel-at-start.test.ts`],
    caughtBy:
      /a cancel that arrives when the start of an effect has become durable > keeps a handler from running/,
  },
  {
    number: 72,
    name: "a blanket approval answers a question about an outcome",
    changes: [
      {
        file: "packages/agent/src/decision-to-input.ts",
        text: 'return about === "approval";',
        replacement: 'return about !== "answer";',
      },
      {
        file: "packages/agent/src/decision-to-input.ts",
        text: 'if (about === "outcome") return typeof decision === "object" && "outcome" in decision;',
        replacement: "",
      },
      {
        file: `${core}/inputs/tool-call-decided.ts`,
        text: 'outcome: ["run-again",',
        replacement: 'outcome: ["approved", "run-again",',
      },
    ],
    tests: [`${tests}/restarts/outcome-questions.test.ts`],
    caughtBy: /is not answered by a handler that approves everything/,
  },
  fault(
    76,
    "sub-agents do not reserve what they may spend",
    {
      file: `${core}/control/admission.ts`,
      text: "call.reserved !== undefined) return call;",
      replacement: "call.reserved === undefined) return call;",
    },
    [`${tests}/budgets.test.ts`],
    /sub-agents that are called side by side > never spend the same tokens/,
  ),
  fault(
    86,
    "what a sub-agent reserves is not kept with its call",
    {
      file: `${core}/control/admission.ts`,
      text: "return { ...call, reserved };",
      replacement: "return call;",
    },
    [`${tests}/budgets.test.ts`],
    /sub-agents that are called side by side > run at once as far as their own limits fit/,
  ),
  fault(
    77,
    "the usage of a cancelled model call is dropped",
    {
      file: `${effects}/run/call-llm.ts`,
      text: "if (isAborted(host)) return yield* reportUsage(effect.key, usage, host);",
      replacement: "if (isAborted(host)) return;",
    },
    [`${tests}/budgets.test.ts`],
    /counts for a model call that was cancelled/,
  ),
  fault(
    81,
    "every caller may dispatch every input",
    {
      file: `${session}/session-methods.ts`,
      text: "checkAccess(input);\n      return await",
      replacement: "return await",
    },
    [`${tests}/session/outside-inputs.test.ts`],
    /dispatch > does not take [\w-]+ from outside/,
  ),
  fault(
    82,
    "an input that no log takes is not refused before it is appended",
    {
      file: `${session}/agent-machine.ts`,
      text: "if (refusal !== undefined) throw refusal;",
      replacement: "",
    },
    [`${tests}/durable/long-records.long.test.ts`],
    /an input whose record no log takes .* is refused to its sender alone/,
  ),
  fault(
    83,
    "a poster reports a deadline although a live owner is there",
    {
      file: `${durable}/durable-host.ts`,
      text: "andThen(handle.log.currentLease(), hasEnded(clock))",
      replacement: "true",
    },
    [`${tests}/durable/people.test.ts`],
    /is heard while a host runs the session/,
  ),
  fault(
    84,
    "a decision after its deadline is taken",
    {
      file: `${session}/decisions.ts`,
      text: "due !== null && due <= now",
      replacement: "due !== null && due < 0",
    },
    [`${tests}/durable/people.test.ts`],
    /comes too late for a question of a session without an owner|a late click is refused/,
  ),
  fault(
    85,
    "a decision of onApproval is lost when its append fails",
    {
      file: `${session}/host-approvals.ts`,
      text: "return decision && toInput(question, decision, hostDecider(question, decision));",
      replacement:
        "if (decision !== undefined) await decide(question, decision, hostDecider(question, decision));\n    return undefined;",
    },
    [simulation],
    /gets its decision through although the append of it fails/,
  ),
  fault(
    91,
    "a refusal hides that calls before it had an effect",
    {
      file: `${core}/control/done-and-error.ts`,
      text: "if (calls.length > 0) edit.addNote",
      replacement: "if (calls.length < 0) edit.addNote",
    },
    [`${tests}/restarts/words-about-calls.test.ts`],
    /a refusal after an effect > does not keep the effect from the model/,
  ),
  fault(
    94,
    "a summary that is too long for the model is tried again without a limit",
    {
      file: `${core}/control/reflecting.ts`,
      text: 'failureKind === "context-length" ? maxAnswerRetries + 1 : summariesFailed + 1',
      replacement: 'failureKind === "" ? maxAnswerRetries + 1 : summariesFailed',
    },
    [`${tests}/restarts/model-calls.test.ts`],
    /a provider that always finds the request too long > ends the loop soon/,
  ),
  fault(
    96,
    "a message that cannot be stored fails the runs of other messages",
    {
      file: `${durable}/durable-host.ts`,
      text: "if (key === undefined) return void this.refresh();",
      replacement:
        "if (key === undefined) return this.#hosted.failRuns(unwritableError(error, this.#hosted.state()));",
    },
    [`${tests}/durable/unwritable.test.ts`],
    /a message that cannot be stored > fails its own run alone/,
  ),
  fault(
    97,
    "an exception of a listener reaches the session",
    {
      file: "packages/agent/src/listeners.ts",
      text: "this.#onError(error);",
      replacement: "throw error;",
    },
    [`${tests}/session/error-reports.test.ts`],
    /a listener that throws/,
  ),
  fault(
    98,
    "a poster may configure a session that another process runs",
    {
      file: `${durable}/durable-host.ts`,
      text: "refusesHost: () => this.#hostRefusal(),",
      replacement: "",
    },
    [`${tests}/session/outside-inputs.test.ts`],
    /the application > does neither through a session that only posts/,
  ),
  fault(
    99,
    "a result from outside gets past an approval",
    {
      file: `${core}/inputs/tool-call.ts`,
      text: " || !takesResult(state, call)",
      replacement: "",
    },
    [`${tests}/session/outside-inputs.test.ts`],
    /the application > does not get past an approval with it/,
  ),
  fault(
    104,
    "a result that the application hands in is kept at any length",
    {
      file: `${session}/decisions.ts`,
      text: "this.#code.runLimits.maxResultLength",
      replacement: "Number.MAX_SAFE_INTEGER",
    },
    [`${tests}/session/outside-inputs.test.ts`],
    /the application > hands in no more than the model may read of a result/,
  ),
];
