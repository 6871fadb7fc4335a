import { fault, type Fault } from "./fault.ts";

const core = "packages/agent-core-state-machine/src";
const restored = "packages/agent/src/durable/restore.ts";
const tests = "packages/agent/test/restarts";
const people = "packages/agent/test/durable/people.test.ts";
const snapshots = "packages/agent/test/durable/snapshots.test.ts";

/** Faults that show after a restart: in what is reported about calls, in what runs again, and in what the state is read from. */
export const restartFaults: readonly Fault[] = [
  fault(
    69,
    "a reminder is counted from the time at which the last one was due",
    {
      file: `${core}/inputs/deadline-passed.ts`,
      text: "const remindAt = dueIn(edit, edit.config.approval.remindAfterMs);",
      replacement: "const remindAt = (status.remindAt ?? 0) + (edit.config.approval.remindAfterMs ?? 0);",
    },
    [people],
    /a question that waits for days > is shown again once after a downtime/,
  ),
  fault(
    70,
    "a call that may have run is reported as not run when the next host does not have its tool",
    {
      file: `${core}/inputs/session.ts`,
      text: "if (call.mayHaveRun) failAsUnknown",
      replacement: "if (call.questions < 0) failAsUnknown",
    },
    [`${tests}/interrupted-calls.test.ts`],
    /does not run again where the tool is removed/,
  ),
  fault(
    71,
    "arguments that the next release refuses count as proof that an earlier attempt did not run",
    {
      file: `${core}/inputs/tool-call.ts`,
      text: "call.mayHaveRun && hasNotRun(result)",
      replacement: "!call",
    },
    [`${tests}/words-about-calls.test.ts`],
    /arguments that the code of the next release refuses do not prove/,
  ),
  fault(
    73,
    "a tightened policy is not applied to calls that have not begun",
    {
      file: `${core}/inputs/session.ts`,
      text: "applyPolicy(edit);",
      replacement: "",
    },
    [`${tests}/policy-changes.test.ts`],
    /a policy that is tightened .*(?:applies to a sibling that never began|applies at once)/,
  ),
  fault(
    74,
    "a call that runs again is exempt from a policy that the next host tightens",
    {
      file: `${core}/control/admission.ts`,
      text: "if (record === undefined) return;",
      replacement: "if (record === undefined || call.mayHaveRun) return;",
    },
    [`${tests}/interrupted-calls.test.ts`],
    /does not run again where its tool is blacklisted/,
  ),
  fault(
    75,
    "a call that runs again is exempt from a policy that was tightened while it ran",
    {
      file: `${core}/control/admission.ts`,
      text: "applyPolicyTo(edit, again);",
      replacement: "",
    },
    [`${tests}/policy-changes.test.ts`],
    /applies to the next attempt of a call that was running/,
  ),
  fault(
    78,
    "the handler of a custom state that a crash interrupted runs again by default",
    {
      file: `${core}/control/custom.ts`,
      text: '? replay[name] : undefined) ?? "once"',
      replacement: '? replay[name] : undefined) ?? "safe"',
    },
    [`${tests}/custom-states.test.ts`],
    /does not run again by default: .* nothing is charged twice/,
  ),
  fault(
    79,
    "a forged snapshot is used",
    {
      file: restored,
      text: "if (!isConfirmed(snapshot, tail)) return undefined;",
      replacement: "",
    },
    [snapshots],
    /a snapshot that the log does not confirm > that was forged, is not used/,
  ),
  {
    number: 80,
    name: "a snapshot of another session is used",
    changes: [
      { file: restored, text: " || record.digest !== snapshot.digest", replacement: "" },
      { file: restored, text: " && input.digest === bodyDigest", replacement: "" },
    ],
    tests: [snapshots],
    caughtBy: /a snapshot that the log does not confirm > of another session is not used/,
  },
  fault(
    89,
    "an outcome that is not reported in time counts as a call that did not run",
    {
      file: `${core}/inputs/tool-call-decided.ts`,
      text: 'if (about === "outcome") failAsUnknown',
      replacement: "if (call.questions < 0) failAsUnknown",
    },
    [`${tests}/words-about-calls.test.ts`],
    /a question about its outcome that expires leaves it unknown/,
  ),
  fault(
    90,
    "a cancelled call that may have run is reported as not run",
    {
      file: `${core}/control/done-and-error.ts`,
      text: "if (call !== undefined && mayHaveRun(call))",
      replacement: "if (call !== undefined && call.questions < 0)",
    },
    [`${tests}/words-about-calls.test.ts`],
    /a cancel while its outcome is asked about|a cancel before its second attempt/,
  ),
  fault(
    92,
    "a changed request has the idempotency key of the request before it",
    {
      file: `${core}/inputs/llm-call.ts`,
      text: "request: control.attempt + 1,",
      replacement: "",
    },
    [`${tests}/model-calls.test.ts`],
    /has another idempotency key when its request has changed/,
  ),
  fault(
    93,
    "a restart with another prompt counts as two interruptions",
    {
      file: `${core}/inputs/llm-call.ts`,
      text: 'closeStreamedMessage(edit, "");\n    edit.setContext({ control: nextRequest(edit, control) });',
      replacement:
        "edit.setContext({ control: { ...nextRequest(edit, control), interruptions: control.interruptions + 1 } });",
    },
    [`${tests}/model-calls.test.ts`],
    /counts one interruption for a restart with a new prompt|is not disturbed by settings/,
  ),
  fault(
    95,
    "damage before a snapshot is not found before the next append",
    {
      file: "packages/agent/src/open-session.ts",
      text: "await log.checkUpTo(found.snapshotSeq);",
      replacement: ";",
    },
    ["packages/agent/test/durable/damage.test.ts"],
    /damage before a snapshot, in .* is found before anything is appended after it/,
  ),
  fault(
    100,
    "a call runs with a tool that takes other arguments than the tool that it was made for",
    {
      file: `${core}/inputs/session.ts`,
      text: "madeFor !== tool.schema && tool.upcasts !== true;",
      replacement: "false;",
    },
    [`${tests}/interrupted-calls.test.ts`, `${tests}/words-about-calls.test.ts`],
    /a call .*does not run (?:again )?with a tool that takes other arguments/,
  ),
  fault(
    101,
    "a snapshot is saved before the record that confirms it is in the log",
    {
      file: "packages/agent/src/durable/snapshot-keeper.ts",
      text: "await confirm(at.seq, bodyDigest);",
      replacement: "void confirm(at.seq, bodyDigest);",
    },
    [snapshots],
    /a snapshot > is saved only when the record that confirms it is in the log/,
  ),
  fault(
    113,
    "a host misses what was appended while it opened the session",
    {
      file: "packages/agent/src/durable/durable-host.ts",
      text: "logOpened(this.#logger, this.info());\n    void this.refresh();",
      replacement: "logOpened(this.#logger, this.info());",
    },
    ["packages/agent/test/durable/own-appends.test.ts"],
    /has also what was appended while it was opened to read/,
  ),
  fault(
    114,
    "a message whose append was not confirmed is never found in the log",
    {
      file: "packages/agent/src/durable/durable-host.ts",
      text: "if (key === undefined) return void this.refresh();",
      replacement: "if (key === undefined) return;",
    },
    ["packages/agent/test/durable/own-appends.test.ts"],
    /becomes part of the session, and is answered, without another message/,
  ),
];
