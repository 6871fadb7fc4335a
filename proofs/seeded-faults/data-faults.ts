import { fault, type Fault } from "./fault.ts";

const core = "packages/agent-core-state-machine/src";
const effects = "packages/agent-core-effects/src";
const agent = "packages/agent/src";
const tests = "packages/agent/test";

/** Faults of application data: what a change is, whom it belongs to, and when it counts. */
export const dataFaults: readonly Fault[] = [
  fault(
    160,
    "a patch of a result is applied twice",
    {
      file: `${core}/inputs/tool-call.ts`,
      text: "if (data !== undefined) edit.setData(data.value, patches);",
      replacement:
        'if (data !== undefined) {\n      const twice = patchedData({ ...state, data: data.value }, patches);\n      edit.setData(typeof twice === "object" ? twice.value : data.value, patches);\n    }',
    },
    [`${tests}/data.test.ts`],
    /is changed by two tools at once, and loses nothing/,
  ),
  fault(
    161,
    "the result of a recipe is not checked by the schema",
    {
      file: `${effects}/data/define-data.ts`,
      text: "differenceOf(data, checked(draft))",
      replacement: "differenceOf(data, dataCopy(draft))",
    },
    [`${tests}/data.test.ts`],
    /names the path of what does not fit the schema/,
  ),
  fault(
    162,
    "the result of a call is recorded without its updates",
    {
      file: `${effects}/run/dispatch-result.ts`,
      text: 'if (typeof patches !== "string") return { ...input, patches };',
      replacement: 'if (typeof patches !== "string") return input;',
    },
    [`${tests}/data.test.ts`],
    /is changed by two tools at once|reuses the result of a call whose updates/,
  ),
  fault(
    163,
    "a change does not say who has made it",
    {
      file: `${agent}/session/data-updater.ts`,
      text: "by: by.toWellFormed(), ...request",
      replacement: 'by: "application", ...request',
    },
    [`${tests}/durable/requests.test.ts`, `${tests}/data.test.ts`],
    /names who has changed it/,
  ),
  fault(
    164,
    "an update of a call that has ended still applies",
    {
      file: `${core}/inputs/data.ts`,
      text: "if (ended !== undefined) return ended;",
      replacement: "",
    },
    ["packages/agent-core-state-machine/test/why-ignored.test.ts"],
    /of a call that does not run|of a handler that does not run/,
  ),
  fault(
    165,
    "a tool that must not run twice may commit before its result",
    {
      file: `${effects}/run/commit-data.ts`,
      text: 'if (replay !== "once") return undefined;',
      replacement: "return undefined;",
    },
    [`${tests}/data-now.test.ts`],
    /is refused for a tool that must not run twice/,
  ),
  fault(
    166,
    "updates that were committed at once are committed again with the result",
    {
      file: `${effects}/data/data-updates.ts`,
      text: "    this.#recipes = [];\n    const committing",
      replacement: "    const committing",
    },
    [`${tests}/data-now.test.ts`],
    /commits the earlier updates of the call with it|is committed before the result of a tool that does not wait/,
  ),
  fault(
    167,
    "a refused commit loses the earlier updates of its call",
    {
      file: `${effects}/data/data-updates.ts`,
      text: "if (!this.#isDropped) this.#recipes = [...waiting, ...this.#recipes];",
      replacement: "",
    },
    [`${tests}/data-now.test.ts`],
    /that is refused has no effect, and leaves the earlier updates/,
  ),
  fault(
    168,
    "a fork that runs a call again forgets what the call has committed",
    {
      file: `${agent}/time-travel/open-work.ts`,
      text: 'return input.type === "data-changed" ? [withoutAuthor(input)] : [];\n  });\n}\n\n/** An input without those',
      replacement: "return [];\n  });\n}\n\n/** An input without those",
    },
    [`${tests}/data-now.test.ts`],
    /keeps the update \(rerun\)/,
  ),
  fault(
    169,
    "a rerun makes the changes of a call a second time",
    {
      file: `${agent}/time-travel/recorded-data.ts`,
      text: "return input.toolCallId === undefined && input.key === undefined && input.version === undefined;",
      replacement: "return input.version === undefined;",
    },
    [`${tests}/time-travel/data.test.ts`],
    /repeats the changes of calls and of the application/,
  ),
  fault(
    193,
    "the items behind one that was removed are recorded at its place",
    {
      file: `${core}/data/difference.ts`,
      text: 'if (op === "remove") at -= 1;',
      replacement: "",
    },
    ["packages/agent-core-effects/test/data/difference.test.ts"],
    /make what the recipe makes of data that is not a draft/,
  ),
  fault(
    194,
    "a list in another order is recorded item by item",
    {
      file: `${core}/data/difference.ts`,
      text: "edits.length > Math.max(fewEdits, to.length / 2)",
      replacement: "edits.length > to.length * 2",
    },
    ["packages/agent-core-effects/test/data/difference.test.ts"],
    /are one patch for a list in another order/,
  ),
];
