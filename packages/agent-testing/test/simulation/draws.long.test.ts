import { defineAgent, defineTool, toolReply, type Agent } from "@moora/agent";
import { recordOf } from "@moora/agent-core-state-machine/internal";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import * as z from "zod";
import { describe, expect, it } from "vitest";
import { simulate, type Invariant, type SimulateOptions } from "../../src/index.ts";

const llm = new MockLlmCaller(() => answers("The simulation answers instead."));
const refundInput = z.object({ euros: z.number(), note: z.string().optional() });

/** Refunds above a threshold need an approval; the promise says 50. */
const refundAgent = (threshold: number): Agent =>
  defineAgent({
    name: "refunds",
    llm,
    tools: [
      defineTool({
        name: "refund",
        description: "Refunds an amount.",
        replay: "keyed",
        input: refundInput,
        execute: ({ euros }) => `${euros} euros refunded`,
      }),
    ],
    config: { approval: { policy: { predicate: "large" } } },
    predicates: { large: ({ parameters }) => JSON.parse(parameters).euros > threshold },
  });

const eurosOf = (parameters: string): number => JSON.parse(parameters).euros;

const asksAbove50: Invariant = ({ state, toolRuns }) => {
  const unasked = toolRuns.find(({ toolCallId, parameters }) => {
    const decision = recordOf(state, toolCallId)?.decision?.type;
    return eurosOf(parameters) > 50 && decision !== "approved" && decision !== "modified";
  });
  return unasked === undefined || `${eurosOf(unasked.parameters)} euros were refunded without approval`;
};

const quiet: SimulateOptions = { faults: ["crash"], invariants: { asksAbove50 } };

describe("arguments are drawn from schemas and constants", () => {
  it("so that a threshold of 500 in place of 50 is found, and shrunk to the smallest amount", async () => {
    const { failure } = await simulate(refundAgent(500), { ...quiet, runs: 300 });
    expect(failure?.failure).toMatchObject({ invariant: "asksAbove50" });
    expect(String(failure?.shrunk.failure)).toContain("51 euros were refunded without approval");
    expect(failure?.shrunk.session.actions.length).toBeLessThanOrEqual(8);
  });

  it("and the right threshold holds", async () => {
    const report = await simulate(refundAgent(50), { ...quiet, runs: 60 });
    expect(report.failure, report.toText()).toBeUndefined();
  });

  it("numbers stay within the bounds of the schema, and reach them", async () => {
    const bounded = seenBy({ type: "number", minimum: 50, maximum: 500 });
    const values = await bounded();
    expect(Math.min(...values)).toBe(50);
    expect(Math.max(...values)).toBe(500);
    expect(values.some((value) => value > 100 && value < 200)).toBe(true);
  });

  it("whole numbers spread over the orders of magnitude", async () => {
    const values = await seenBy({ type: "integer" })();
    expect(values.every(Number.isInteger)).toBe(true);
    for (const [low, high] of [
      [5, 50],
      [50, 500],
      [500, 5_000],
      [5_000, 50_000],
    ] as const) {
      expect(values.filter((value) => value >= low && value < high).length).toBeGreaterThan(
        values.length / 40,
      );
    }
  });

  it("constants of schemas, prompts and predicates come, and their neighbors", async () => {
    const agent = refundAgent(777);
    const seen = new Set<number>();
    const watch: Invariant = ({ toolRuns }) => {
      for (const { parameters } of toolRuns) seen.add(eurosOf(parameters));
      return true;
    };
    const marked = {
      ...agent,
      config: { ...agent.config, systemPrompt: "Never refund more than 4321 euros." },
    };
    await simulate(marked, { runs: 60, faults: [], invariants: { watch } });
    expect(seen).toContain(4_321);
    expect(seen).toContain(4_322);
    const source = refundAgent(777).parts.predicates["large"]?.toString() ?? "";
    expect(source).toContain("threshold");
  });
});

/** Simulates an agent with one parameter of a schema, and returns the numbers that it ran with. */
const seenBy = (schema: object) => async (): Promise<readonly number[]> => {
  const values: number[] = [];
  const agent = defineAgent({
    llm,
    tools: [
      defineTool({
        name: "take",
        description: "Takes a number.",
        replay: "safe",
        input: { type: "object", properties: { value: { ...schema } }, required: ["value"] },
        execute: () => "ok",
      }),
    ],
  });
  let known = 0;
  const watch: Invariant = ({ toolRuns }) => {
    if (toolRuns.length < known) known = 0;
    for (const { parameters } of toolRuns.slice(known)) values.push(JSON.parse(parameters).value);
    known = toolRuns.length;
    return true;
  };
  await simulate(agent, { runs: 40, faults: [], invariants: { watch } });
  return values;
};

describe("values of the user's own", () => {
  it("are the arguments that `draw` gives for a tool", async () => {
    const seen = new Set<number>();
    const watch: Invariant = ({ toolRuns }) => {
      for (const { parameters } of toolRuns) seen.add(eurosOf(parameters));
      return true;
    };
    await simulate(refundAgent(50), {
      runs: 10,
      faults: [],
      invariants: { watch },
      draw: { refund: (choose) => ({ euros: 20 + choose(3) }) },
    });
    expect(seen).toEqual(new Set([20, 21, 22]));
  });

  it("are what users write", async () => {
    const seen = new Set<string>();
    const watch: Invariant = ({ state }) => {
      for (const { role, content } of state.messages) if (role === "user") seen.add(content);
      return true;
    };
    const texts = ["Refund order 7.", "Where is my money?"];
    await simulate(refundAgent(50), { runs: 10, faults: [], invariants: { watch }, texts });
    expect(seen).toEqual(new Set(texts));
  });

  it("are the results that `drawResults` gives for a call", async () => {
    const contents = new Set<string>();
    const watch: Invariant = ({ state }) => {
      for (const { result } of Object.values(state.toolCalls)) {
        if (result?.isSuccess === true) contents.add(result.content.replaceAll(/\d+(\.\d+)?/g, "#"));
        else if (result !== null) contents.add(result?.error ?? "");
      }
      return true;
    };
    await simulate(refundAgent(1e9), {
      runs: 20,
      length: 20,
      faults: [],
      invariants: { watch },
      drawResults: {
        refund: (choose, parameters) =>
          choose(2) === 0
            ? { refunded: parameters }
            : toolReply({ content: "The bank is closed.", isError: true }),
      },
    });
    expect([...contents].some((content) => content.startsWith('{"refunded":{"euros":'))).toBe(true);
    expect(contents).toContain("The bank is closed.");
  });
});

describe("tools that are executed", () => {
  /** A bank that takes a payment twice: its tool forgets to use the idempotency key. */
  const bank = { payments: [] as string[] };
  const paysTwice = defineAgent({
    name: "bank",
    llm,
    tools: [
      defineTool({
        name: "pay",
        description: "Pays.",
        replay: "keyed",
        input: z.object({ euros: z.number() }),
        execute: async ({ euros }, { toolCallId }) => {
          bank.payments.push(toolCallId);
          await Promise.resolve();
          return `${euros} euros paid`;
        },
      }),
    ],
  });
  const beforeEach = (): void => void (bank.payments = []);
  const paysEachCallOnce: Invariant = () =>
    new Set(bank.payments).size === bank.payments.length || "the bank was paid twice for one call";

  it("have their effect when they begin, and a bug in them is found", async () => {
    const { failure } = await simulate(paysTwice, {
      runs: 300,
      faults: ["crash"],
      execute: ["pay"],
      invariants: { paysEachCallOnce },
      beforeEach,
    });
    expect(failure?.failure).toMatchObject({ invariant: "paysEachCallOnce" });
    expect(failure?.shrunk.session.actions.length).toBeLessThanOrEqual(4);
  });

  it("return what they return", async () => {
    const seen = new Set<string>();
    const watch: Invariant = ({ state }) => {
      for (const { result } of Object.values(state.toolCalls))
        if (result?.isSuccess === true) seen.add(result.content);
      return true;
    };
    await simulate(paysTwice, { runs: 10, faults: [], execute: true, invariants: { watch }, beforeEach });
    expect(seen.size).toBeGreaterThan(1);
    expect([...seen].every((content) => content.endsWith("euros paid"))).toBe(true);
  });
});
