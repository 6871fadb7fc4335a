import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  defineAgent,
  defineData,
  defineTool,
  openSession,
  rerunSession,
  type Agent,
  type AgentConfigChange,
  type AgentInput,
  type Json,
} from "../../src/index.ts";

type List = { items: string[] };
type Calls = readonly (readonly ["import" | "add" | "watch", Json])[];

const list = defineData({ schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } });

const push =
  (item: string) =>
  (draft: List): void =>
    void draft.items.push(item);

const hasItem = (item: string) => (input: AgentInput) =>
  "patches" in input && JSON.stringify(input.patches).includes(item);

const hasResult = (toolCallId: string) => (input: AgentInput) =>
  input.type === "tool-call-completed" && input.toolCallId === toolCallId;

/** Inputs that have been recorded, and what waits for them. */
class Recorded {
  readonly #inputs: AgentInput[] = [];
  readonly #listeners = new Set<() => void>();

  readonly add = (input: AgentInput): void => {
    this.#inputs.push(input);
    for (const listener of this.#listeners) listener();
  };

  async has(isWanted: (input: AgentInput) => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = (): void => void (this.#inputs.some(isWanted) && resolve());
    this.#listeners.add(check);
    check();
    await promise;
  }
}

/**
 * An agent whose model makes these calls in one turn. `import` commits `a`, waits for the result of `add`, commits `b`, and
 * adds `c` with its result; `add` waits for `a`.
 */
function importer(calls: Calls, recorded = new Recorded(), config: AgentConfigChange = {}): Agent {
  const importItems = defineTool({
    name: "import",
    description: "Imports items.",
    input: z.object({ fails: z.boolean().optional() }),
    replay: "keyed",
    data: list,
    async execute({ fails = false }, { update }) {
      await update.now(push("a"));
      if (fails) throw new Error("The file is broken.");
      await recorded.has(hasResult("call_2"));
      await update.now(push("b"));
      update(push("c"));
      return "imported";
    },
  });
  const add = defineTool({
    name: "add",
    description: "Adds an item.",
    input: z.object({ item: z.string(), after: z.string().optional(), early: z.boolean().optional() }),
    data: list,
    async execute({ item, after, early = false }, { update }) {
      if (after !== undefined) await recorded.has(hasItem(after));
      if (early) await update.now(push(item));
      update(push(item));
      return `added ${item}`;
    },
  });
  const watch = defineTool({
    name: "watch",
    description: "Waits for an item.",
    input: z.object({ item: z.string() }),
    replay: "safe",
    data: list,
    async execute({ item }, { update }) {
      for (let reads = 0; reads < 1000; reads += 1)
        if ((await update.now(() => undefined)).items.includes(item)) return `found ${item}`;
      throw new Error(`${item} is missing.`);
    },
  });
  const llm = new MockLlmCaller(({ messages }) =>
    messages.at(-1)?.role === "user"
      ? callsTools(
          calls.map(([name, parameters], index) => ({
            id: `call_${index + 1}`,
            name,
            arguments: parameters,
          })),
        )
      : answers("Done."),
  );
  return defineAgent({ name: "importer", llm, data: list, tools: [importItems, add, watch], config });
}

/** Records a session of one loop, and returns its log, the number of its records and its items. */
async function record(
  calls: Calls,
  config: AgentConfigChange = {},
): Promise<{ readonly log: EventLog; readonly seq: number; readonly items: readonly string[] }> {
  const log = memoryLog();
  const recorded = new Recorded();
  const session = await openSession(importer(calls, recorded, config), {
    log,
    id: "ada",
    onApproval: () => "approve",
  });
  session.onInput(recorded.add);
  await session.ask("Go.");
  const { items } = list.read(session.current());
  const seq = session.seq();
  await session.close();
  return { log, seq, items };
}

const interleaved: Calls = [
  ["import", {}],
  ["add", { item: "x", after: "a" }],
];

describe("a rerun of calls that change data at once", () => {
  it("repeats their changes in the recorded order, from every position", async () => {
    const { log, seq, items } = await record(interleaved);
    expect(items).toEqual(["a", "x", "b", "c"]);
    for (let from = 0; from <= seq; from += 1) {
      const rerun = await rerunSession(importer(interleaved), log, "ada", { from });
      expect(rerun.droppedUpdates, `from ${from}`).toBe(0);
      expect(rerun.differences, `from ${from}`).toEqual([]);
    }
  });

  it("lets a call that is approved later make an earlier change", async () => {
    const calls: Calls = [
      ["add", { item: "x", after: "a" }],
      ["add", { item: "y", after: "x" }],
      ["import", {}],
    ];
    const config = { approval: { policy: { tools: ["import"] } } };
    const { log, items } = await record(calls, config);
    expect(items).toEqual(["a", "x", "y", "b", "c"]);
    const rerun = await rerunSession(importer(calls, undefined, config), log, "ada", { from: 0 });
    expect(rerun.droppedUpdates).toBe(0);
    expect(rerun.differences).toEqual([]);
  });

  it("leaves out what does not fit where another agent cannot make the changes in this order", async () => {
    const calls: Calls = [
      ["add", { item: "second", after: "first" }],
      ["add", { item: "first" }],
    ];
    const { log, items } = await record(calls);
    expect(items).toEqual(["first", "second"]);
    const oneByOne = importer(calls, undefined, { toolCalls: { maxParallel: 1 } });
    const rerun = await rerunSession(oneByOne, log, "ada", { from: 0 });
    expect(rerun.droppedUpdates).toBe(1);
    expect(list.read(rerun.state).items).toEqual(["first"]);
  });

  it("does not wait for a call that another agent leaves out or adds", async () => {
    const { log } = await record(interleaved);
    const without = await rerunSession(importer(interleaved.slice(1)), log, "ada", { from: 0 });
    expect(without.droppedUpdates).toBe(1);
    const added: Calls = [["watch", { item: "c" }], ...interleaved];
    const rerun = await rerunSession(importer(added), log, "ada", { from: 0, unrecorded: "run" });
    expect(rerun.state.toolCalls["call_1"]?.result).toMatchObject({ content: "found c" });
    expect(list.read(rerun.state).items).toEqual(["a", "x", "b", "c"]);
  });

  it("keeps what a call that failed had committed", async () => {
    const calls: Calls = [["import", { fails: true }]];
    const { log, items } = await record(calls);
    expect(items).toEqual(["a"]);
    const rerun = await rerunSession(importer(calls), log, "ada", { from: 0 });
    expect(rerun.differences).toEqual([]);
  });

  it("refuses early commits of a tool that runs and must not run twice", async () => {
    const { log } = await record(interleaved);
    const calls: Calls = [["add", { item: "y", early: true }], ...interleaved];
    const rerun = await rerunSession(importer(calls), log, "ada", { from: 0, unrecorded: "run" });
    expect(rerun.state.toolCalls["call_1"]?.result).toMatchObject({ isSuccess: false });
    expect(list.read(rerun.state).items).toEqual(["a", "x", "b", "c"]);
  });
});
