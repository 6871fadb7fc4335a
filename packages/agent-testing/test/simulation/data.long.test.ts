import { defineAgent, defineData, defineTool } from "@moora/agent";
import { MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { simulate, type Invariants } from "../../src/index.ts";

const schema = z.object({
  items: z.record(z.string(), z.number()),
  announced: z.record(z.string(), z.boolean()),
  total: z.number(),
  updates: z.number(),
});
type Ledger = z.infer<typeof schema>;

const ledger = defineData({ schema, initial: { items: {}, announced: {}, total: 0, updates: 0 } });

const put = defineTool({
  name: "put",
  description: "Puts a number.",
  input: z.object({ of: z.number() }),
  replay: "keyed",
  data: ledger,
  execute({ of }, { toolCallId, update }) {
    update((draft) => {
      draft.items[toolCallId] = of;
      draft.total += of;
    });
    return "put";
  },
});

/** Announces the number at once, and puts it with the result. */
const announce = defineTool({
  name: "announce",
  description: "Announces a number, and puts it.",
  input: z.object({ of: z.number() }),
  replay: "keyed",
  data: ledger,
  async execute({ of }, { toolCallId, update }) {
    await update.now((draft) => {
      draft.announced[toolCallId] = true;
    });
    update((draft) => {
      draft.items[toolCallId] = of;
      draft.total += of;
    });
    return "put";
  },
});

const agent = defineAgent({
  llm: new MockLlmCaller([]),
  data: ledger,
  tools: [put, announce],
  config: { showData: "changed" },
});

/** What the data contains is what the calls that have succeeded put there, each once. */
const invariants: Invariants = {
  putsOnce({ state }) {
    const { items, announced, total } = schema.parse(state.data);
    const sum = Object.values(items).reduce((all, of) => all + of, 0);
    if (Math.abs(sum - total) > 1e-6 * Math.max(1, Math.abs(total))) return `${sum} is not ${total}`;
    for (const [id, { name, result }] of Object.entries(state.toolCalls)) {
      const isPut = Object.hasOwn(items, id);
      if (isPut && name === "announce" && announced[id] !== true) return `${id} was not announced`;
      if (isPut && result?.isSuccess !== true) return `${id} was put without a result`;
      if (!isPut && result?.isSuccess === true && result.content === "put") return `${id} was lost`;
    }
    return true;
  },
};

const updates = [
  (draft: Ledger): void => {
    draft.updates += 1;
  },
  (draft: Ledger): void => {
    draft.total += 1;
    draft.items[`application-${draft.updates}-${Object.keys(draft.items).length}`] = 1;
  },
  (draft: Ledger): void => {
    Object.assign(draft, { updates: "refused" });
  },
];

describe("simulated sessions of an agent with data", () => {
  it("lose and double no update, in 300 sessions", async () => {
    const draw = { put: () => ({ of: 1 }), announce: () => ({ of: 2 }) };
    const report = await simulate(agent, { runs: 300, execute: true, updates, invariants, draw });
    expect(report.failure).toBeUndefined();
    expect(report.runs).toBe(300);
  });
});
