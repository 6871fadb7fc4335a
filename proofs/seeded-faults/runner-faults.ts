import { fault, type Fault } from "./fault.ts";

const machine = "packages/moorex/src/machine.ts";
const durable = "packages/agent/src/durable";
const moorexTests = ["packages/moorex/test/create-moorex.test.ts"];
const effectRunTests = ["packages/moorex/test/effect-runs.test.ts"];
const intentTests = ["packages/moorex/test/intents.test.ts", "packages/moorex/test/invariants.test.ts"];
const durableTests = "packages/agent/test/durable";

/** Faults of the runner and of durable sessions: what is seen, run or acknowledged too early, twice or never. */
export const runnerFaults: readonly Fault[] = [
  fault(
    2,
    "an input is acknowledged before it is appended",
    {
      file: machine,
      text: "return promise;",
      replacement: "return Promise.resolve({ applied: inputs.length, state: this.#state });",
    },
    moorexTests,
    /I5: commit/,
  ),
  fault(
    3,
    "a state is published before it is appended",
    {
      file: machine,
      text: "return this.#processAfter(answer, draft);\n          committed =",
      replacement: 'committed = "durable";\n          else committed =',
    },
    moorexTests,
    /I5: commit > keeps the state from being seen before it is durable/,
  ),
  fault(
    5,
    "an owner that was taken over continues to append",
    {
      file: `${durable}/log-writer.ts`,
      text: "!this.#unacknowledged.has(digest)",
      replacement: "seq < 0",
    },
    [`${durableTests}/interleavings.test.ts`],
    /two concurrent resumes of one session/,
  ),
  fault(
    25,
    "keys are sorted by locale",
    {
      file: `${durable}/canonical-json.ts`,
      text: "before !== undefined && before > key;",
      replacement: "before !== undefined && before.localeCompare(key) > 0;",
    },
    [`${durableTests}/canonical-json.test.ts`],
    /canonical JSON > has the keys of an object by code unit/,
  ),
  fault(
    30,
    "a snapshot of another form of states is used",
    {
      file: `${durable}/restore.ts`,
      text: "snapshot?.version === snapshotVersion ? await",
      replacement: "snapshot !== undefined ? await",
    },
    [`${durableTests}/snapshots.test.ts`],
    /a snapshot that the log does not confirm > of another release is not used either/,
  ),
  fault(
    39,
    "records of others are passed over on a conflict",
    {
      file: `${durable}/log-writer.ts`,
      text: "this.#advanceTo({ seq, digest });\n    return { before };",
      replacement: "this.#advanceTo({ seq, digest });\n    return { before: before.slice(0, 0) };",
    },
    [`${durableTests}/interleavings.test.ts`],
    /the same approval > is answered twice at once from two processes/,
  ),
  fault(
    40,
    "a finished effect starts again while it is still wanted",
    {
      file: machine,
      text: "this.#runs.has(key);",
      replacement: 'this.#runs.get(key)?.phase === "running";',
    },
    moorexTests,
    /I2: a finished key > does not start again while it is still wanted/,
  ),
  {
    number: 41,
    name: "an old run is still heard",
    changes: [
      {
        file: machine,
        text: 'run === undefined ? this.#isStopped : run.phase !== "running"',
        replacement: "run === undefined && this.#isStopped",
      },
      {
        file: "packages/moorex/src/group.ts",
        text: 'run.phase === "retired" || (draft.after !== state',
        replacement: "(draft.after !== state",
      },
    ],
    tests: moorexTests,
    caughtBy: /I3: an old run > can no longer dispatch/,
  },
  fault(
    42,
    "what an effect dispatched is lost when the log fails",
    {
      file: machine,
      text: "this.#deferred.push(batch);",
      replacement: "batch.result = { applied: 0, state: this.#state };",
    },
    moorexTests,
    /I5: commit > that fails keeps an effect's own input/,
  ),
  fault(
    43,
    "a batch is not transitioned again after what others appended",
    {
      file: machine,
      text: "this.#applyForeign(committed);\n      return draft.batches;",
      replacement: "this.#applyForeign(committed);",
    },
    moorexTests,
    /I5: commit > applies and publishes what others appended first, then transitions the batch again/,
  ),
  fault(
    44,
    "a session that opens runs its tools before it has said so",
    {
      file: `${durable}/durable-host.ts`,
      text: "this.#lifecycle.startsEffects && state.opened > found.state.opened",
      replacement: "this.#lifecycle.startsEffects && state.opened >= found.state.opened",
    },
    [`${durableTests}/opening.test.ts`],
    /a session that is opened to run > starts nothing before the log contains that its owner runs it/,
  ),
  fault(
    45,
    "the snapshot of a state is labeled with the newest record",
    {
      file: `${durable}/durable-host.ts`,
      text: "reached({ state, at: position }, input)",
      replacement: "reached({ state, at: this.#writer.head }, input)",
    },
    [`${durableTests}/snapshots.test.ts`],
    /a snapshot > that is saved while a group of inputs is applied belongs to its own record/,
  ),
  fault(
    102,
    "inputs that were appended in parts are taken for those of others after a conflict",
    {
      file: `${durable}/log-writer.ts`,
      text: "if (parts.length > 1) markUnacknowledged();",
      replacement: "",
    },
    [`${durableTests}/long-records.long.test.ts`],
    /become part of the session once each where another process writes between their appends/,
  ),
  fault(
    103,
    "inputs that are too long for one append are not split",
    {
      file: `${durable}/appends.ts`,
      text: "if (length > longest || parts.at(-1)?.length === most) {",
      replacement: "if (parts.at(-1)?.length === most) {",
    },
    [`${durableTests}/long-records.long.test.ts`],
    /inputs that are longer together than one append may be > are appended in turn/,
  ),
  fault(
    105,
    "an effect starts although its intent is not committed",
    {
      file: machine,
      text: "for (const entry of plan.entries) if (isStep(entry)) draft",
      replacement: "for (const entry of plan.entries) if (!isStep(entry)) draft",
    },
    [...intentTests, `${durableTests}/intents.test.ts`],
    /I1: the intent of an effect > is committed with the input|leaves of a call that is once/,
  ),
  fault(
    106,
    "the effects of inputs that were committed first start without their intents",
    {
      file: machine,
      text: "if (wanted !== undefined) this.#retire(wanted);",
      replacement: "if (wanted !== undefined) this.#reconcile(undefined);",
    },
    intentTests,
    /I5: intents and a commit > that finds other inputs first are made again|whatever commits do/,
  ),
  fault(
    107,
    "the intents of a state that is already committed are forgotten",
    {
      file: machine,
      text: "(draft.steps.length > 0 || this.#hasChanged)",
      replacement: "draft.steps.length > 0",
    },
    intentTests,
    /I1: the intent of an effect > of the initial state|that fails for the committed state/,
  ),
  fault(
    108,
    "a batch of a run that its group has retired is applied",
    {
      file: "packages/moorex/src/group.ts",
      text: "(draft.after !== state && !isWanted(run, draft.after))",
      replacement: "draft.after === undefined",
    },
    ["packages/moorex/test/groups.test.ts"],
    /of a run that an earlier batch of the group retired are dropped/,
  ),
  fault(
    109,
    "a group is published before its commit",
    {
      file: machine,
      text: "const answer = this.#definition.commit(draft.steps);",
      replacement:
        'this.#publish(draft, "transition");\n          const answer = this.#definition.commit(draft.steps);',
    },
    moorexTests,
    /I5: commit > keeps the state from being seen before it is durable/,
  ),
  {
    number: 110,
    name: "an own intent whose append was not confirmed keeps its effect from running",
    changes: [
      {
        file: "packages/agent/src/session/agent-machine.ts",
        text: "this.#base.ledger !== undefined && isIntentRecorded(effect, state)",
        replacement: "this.#base.ledger === undefined && isIntentRecorded(effect, state)",
      },
    ],
    tests: [`${durableTests}/intents.test.ts`],
    caughtBy: /a group of results whose append fails > loses and doubles nothing/,
    hangs: true,
  },
  fault(
    115,
    "an input that an effect does not wait for is lost where `start` returns before its turn",
    {
      file: "packages/moorex/src/group.ts",
      text: 'run.phase === "retired" || (draft.after !== state',
      replacement: 'run.phase !== "running" || (draft.after !== state',
    },
    effectRunTests,
    /I3: an input that an effect dispatches without waiting for it/,
  ),
  fault(
    116,
    "a waiting input of a run that has ended is applied after its key was retired",
    {
      file: machine,
      text: 'run.phase = "retired";\n      this.#runs.delete(key);\n      if (phase === "ended") continue;',
      replacement:
        'this.#runs.delete(key);\n      if (phase === "ended") continue;\n      run.phase = "retired";',
    },
    effectRunTests,
    /I3: the waiting input of a run that has ended > is dropped where its key was retired/,
  ),
  fault(
    117,
    "an input that is dropped is not reported",
    {
      file: machine,
      text: 'this.#emit({ type: "input-dropped", key, input });',
      replacement: "void [key, input];",
    },
    effectRunTests,
    /is dropped with a notice/,
  ),
  fault(
    118,
    "an error that an effect throws after its end is not reported",
    {
      file: machine,
      text: 'this.#error("effect", failure.error, key);',
      replacement: "void key;",
    },
    effectRunTests,
    /I6: an error of a run > that its own input has retired is reported/,
  ),
  fault(
    119,
    "the machine is settled while the `start` of an effect continues after its result",
    {
      file: machine,
      text: "(this.#foreground === 0 && [...this.#answered].every((run) => run.foreground === 0))",
      replacement: "this.#foreground === 0",
    },
    effectRunTests,
    /settled > waits for a `start` whose own input retired its key/,
  ),
  fault(
    120,
    "a result of a commit that has another form is not refused",
    {
      file: machine,
      text: "committed = committedOf(answer);",
      replacement: 'committed = answer?.before?.length ? answer.before : "durable";',
    },
    ["packages/moorex/test/commit-result.test.ts"],
    /I5: a commit that returns at once/,
  ),
];
