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
      file: `${effects}/data/recipe-runner.ts`,
      text: "this.#check(data, changed, difference);",
      replacement: "",
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
    "a part is checked on its own, although the whole has a refinement",
    {
      file: `${effects}/data/zod-part.ts`,
      text: "if (checks.length > 0) return undefined;",
      replacement: "",
    },
    ["packages/agent-core-effects/test/data/checks.long.test.ts"],
    /with the whole where a refinement looks at the whole|refused as the whole would be/,
  ),
  fault(
    194,
    "the size of data forgets what a change has added",
    {
      file: `${effects}/data/recipe-runner.ts`,
      text: "items: size.items + growth.items",
      replacement: "items: size.items",
    },
    ["packages/agent-core-effects/test/data/checks.long.test.ts"],
    /the limits count all that is there/,
  ),
];
