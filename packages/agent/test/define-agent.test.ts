import { defineTool } from "@moora/agent-core-effects";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import {
  AgentError,
  defineAgent,
  initialStateOf,
  runTask,
  type AgentConfig,
  type PriceList,
} from "../src/index.ts";
import { failureOf, toolOf } from "./support.ts";

const llm = new MockLlmCaller([]);

/** Defines an agent of what a host without types may say. */
const define = (options: object): unknown => {
  try {
    return defineAgent({ llm, ...options });
  } catch (error) {
    return error;
  }
};
const refused = (message: string | RegExp): unknown =>
  expect.objectContaining({
    name: "AgentError",
    kind: "BuildError",
    message: expect.stringMatching(message),
  });

describe("a limit that is none (K04)", () => {
  const positive = [
    "maxSteps",
    "maxParallelTools",
    "maxCallsPerTurn",
    "maxToolAttempts",
    "maxLlmAttempts",
    "initialContextWindowSize",
    "expandContextWindowSize",
  ];
  const counts = [
    "maxRetries",
    "reflectEveryNSteps",
    "reflectAboveInputTokens",
    "minAnswerLength",
    "retryDelayMs",
    "maxRetryDelayMs",
  ];
  const never = [Number.NaN, Number.POSITIVE_INFINITY, -1, "10", 1.5, null];

  it.each(positive)("config.%s is a whole number above 0", (name) => {
    for (const limit of [...never, 0]) expect(define({ config: { [name]: limit } })).toEqual(refused(name));
    expect(define({ config: { [name]: 1 } })).not.toBeInstanceOf(Error);
  });

  it.each(counts)("config.%s is a whole number, or 0", (name) => {
    for (const limit of never) expect(define({ config: { [name]: limit } })).toEqual(refused(name));
    expect(define({ config: { [name]: 0 } })).not.toBeInstanceOf(Error);
  });

  it.each(["maxTokens", "maxTotalTokens"])("config.budget.%s is a whole number above 0", (name) => {
    for (const limit of [...never, 0])
      expect(define({ config: { budget: { [name]: limit } } })).toEqual(refused(name));
  });

  it.each(["maxCost", "maxTotalCost"])("config.budget.%s is an amount", (name) => {
    for (const limit of [Number.NaN, Number.POSITIVE_INFINITY, -1, "10"])
      expect(define({ config: { budget: { [name]: limit } } })).toEqual(refused(name));
    expect(define({ config: { budget: { [name]: 1.5 } } })).not.toBeInstanceOf(Error);
  });

  it.each(["expiresAfterMs", "remindAfterMs"])("config.approval.%s is a whole number above 0", (name) => {
    for (const limit of [...never, 0])
      expect(define({ config: { approval: { policy: "always", [name]: limit } } })).toEqual(refused(name));
  });

  it.each(["toolTimeoutMs", "maxResultLength", "llmFirstChunkTimeoutMs", "llmIdleTimeoutMs"])(
    "limits.%s is a whole number above 0",
    (name) => {
      for (const limit of [...never, 0]) expect(define({ limits: { [name]: limit } })).toEqual(refused(name));
      expect(define({ limits: { [name]: 1 } })).not.toBeInstanceOf(Error);
    },
  );

  it("limits.maxResultLength is what a log can keep", () =>
    expect(define({ limits: { maxResultLength: 9_000_000 } })).toEqual(refused("fit a log")));

  it("a price is an amount", () => {
    for (const price of [Number.NaN, Number.POSITIVE_INFINITY, -1, "1"])
      expect(define({ prices: { big: { input: 1, output: price } } })).toEqual(refused("prices.big.output"));
    expect(define({ prices: { big: { input: 0, output: 0.5 } } })).not.toBeInstanceOf(Error);
  });
});

describe("what can never work is refused when the agent is defined", () => {
  const graph = (more: object): object => ({
    config: { graph: { states: [], rows: {}, terminals: [], ...more } },
  });
  const check = { states: ["Check"], rows: { Planning: { LlmFinalAnswer: "Check" }, Check: { Ok: "Done" } } };
  const handler = (): string => "Ok";

  it.each<[string, object, RegExp]>([
    ["a name taken twice", { tools: [toolOf("a"), toolOf("a")] }, /The tool a is registered twice/],
    ["the name of an internal tool", { tools: [toolOf("find_tool_calls")] }, /belongs to an internal tool/],
    ["a hostile name", { tools: [{ ...toolOf("a"), name: "__proto__" }] }, /is no tool name/],
    [
      "a tool written by hand with a limit that is none",
      { tools: [{ ...toolOf("a"), definition: { description: "", schema: "{}", timeoutMs: 0 } }] },
      /The tool a is none: timeoutMs/,
    ],
    ["an unknown field", { config: { maxStep: 3 } }, /config\.maxStep: there is no such field/],
    ["an unknown policy", { config: { approval: { policy: "perhaps" } } }, /config\.approval\.policy/],
    [
      "a policy without its predicate",
      { config: { approval: { policy: { predicate: "big" } } } },
      /predicate big/,
    ],
    [
      "a predicate that every object has",
      { config: { approval: { policy: { predicate: "toString" } } } },
      /predicate toString, which is not given/,
    ],
    [
      "a tool to be called that is not there",
      { config: { toolChoice: { name: "a" } } },
      /tool a, which is not given/,
    ],
    ["a state without a handler", graph(check), /The state Check has no handler/],
    ["a handler without a state", { states: { Check: handler } }, /which is no state of the graph/],
    ["a row that leads nowhere", graph({ rows: { Planning: { X: "Gone" } } }), /leads to no state/],
    ["a row from nowhere", graph({ rows: { Gone: { X: "Done" } } }), /is no state/],
    ["a row out of an end", graph({ rows: { Done: { X: "Planning" } } }), /where every loop ends/],
    [
      "a state that nothing leads to",
      { ...graph({ states: ["Lost"], rows: { Lost: { X: "Done" } } }), states: { Lost: handler } },
      /No row leads to the state Lost/,
    ],
    ["a terminal that is no state", graph({ terminals: ["Gone"] }), /terminal state Gone is not defined/],
    ["a built-in state once more", graph({ states: ["Planning"] }), /is built in/],
    ["settings that are no JSON", { config: { settings: { seed: Number.NaN } } }, /config\.settings\.seed/],
    ["settings with code", { config: { settings: { hook: () => 1 } } }, /config\.settings\.hook/],
    ["a lone surrogate in the system prompt", { systemPrompt: "a\ud800" }, /config\.systemPrompt/],
  ])("%s", (_, options, message) => expect(define(options)).toEqual(refused(message)));

  it("but not a state that has one", () =>
    expect(define({ ...graph(check), states: { Check: handler } })).not.toBeInstanceOf(Error));

  it("an answer schema without JSON Schema throws as well", () =>
    expect(
      define({ answer: { "~standard": { version: 1, vendor: "own", validate: () => ({ value: 1 }) } } }),
    ).toBeInstanceOf(TypeError));
});

describe("an agent is a value", () => {
  it("whose state is the same each time, and JSON", () => {
    const agent = defineAgent({
      llm,
      tools: [toolOf("a")],
      systemPrompt: "Be brief.",
      config: { maxSteps: 3 },
    });
    expect(initialStateOf(agent)).toEqual(initialStateOf(agent));
    expect(JSON.parse(JSON.stringify(initialStateOf(agent)))).toEqual(initialStateOf(agent));
    expect(agent).toMatchObject({
      name: "agent",
      version: "0",
      config: { systemPrompt: "Be brief.", maxSteps: 3 },
    });
  });

  it("that does not change when what it was made of does", () => {
    const stop = ["x"];
    const config: Partial<AgentConfig> = { settings: { stop }, blacklistedTools: stop };
    const agent = defineAgent({ llm, config });
    stop.push("y");
    expect(agent.config.settings).toEqual({ stop: ["x"] });
    expect(agent.config.blacklistedTools).toEqual(["x"]);
  });

  it("has the systemPrompt that is given over that of its config", () =>
    expect(defineAgent({ llm, systemPrompt: "a", config: { systemPrompt: "b" } }).config.systemPrompt).toBe(
      "a",
    ));
});

describe("the type of an answer", () => {
  const weather = z.object({ celsius: z.number(), sky: z.enum(["clear", "grey"]) });

  it("is that of its schema", async () => {
    const typed = new MockLlmCaller([answers('{"celsius":21,"sky":"clear"}')]);
    const agent = defineAgent({ llm: typed, answer: weather });
    const { answer, text } = await runTask(agent, "How is it in Oslo?");
    expectTypeOf(answer).toEqualTypeOf<{ celsius: number; sky: "clear" | "grey" }>();
    expect(answer).toEqual({ celsius: 21, sky: "clear" });
    expect(text).toBe('{"celsius":21,"sky":"clear"}');
    expect(typed.requests[0]?.answerSchema).toMatchObject({ type: "object", required: ["celsius", "sky"] });
  });

  it("is what a schema makes of it", async () => {
    const agent = defineAgent({
      llm: new MockLlmCaller([answers('{"n":"4"}')]),
      answer: z.object({ n: z.string().transform(Number) }),
    });
    const { answer } = await runTask(agent, "2+2?");
    expectTypeOf(answer).toEqualTypeOf<{ n: number }>();
    expect(answer).toEqual({ n: 4 });
  });

  it("is text without a schema, and JSON for a JSON Schema", async () => {
    const plain = await runTask(defineAgent({ llm: new MockLlmCaller([answers("4")]) }), "2+2?");
    expectTypeOf(plain.answer).toEqualTypeOf<string>();
    expect(plain.answer).toBe("4");
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
    const json = await runTask(
      defineAgent({ llm: new MockLlmCaller([answers('{"n":4}')]), answer: schema }),
      "2+2?",
    );
    expect(json.answer).toEqual({ n: 4 });
  });

  it("is asked for again until it fits, and the model reads what is wrong", async () => {
    const again = new MockLlmCaller([
      answers("about 20"),
      answers('{"celsius":"warm"}'),
      answers('{"celsius":20,"sky":"grey"}'),
    ]);
    const { answer } = await runTask(defineAgent({ llm: again, answer: weather }), "How is it?");
    expect(answer).toEqual({ celsius: 20, sky: "grey" });
    expect(JSON.stringify(again.requests[1]?.messages.at(-1))).toContain("It is not JSON.");
    expect(JSON.stringify(again.requests[2]?.messages.at(-1))).toContain("celsius: ");
  });

  it("fails the run where it never fits", async () => {
    const agent = defineAgent({
      llm: new MockLlmCaller(() => answers("no")),
      answer: weather,
      config: { maxRetries: 2 },
    });
    const error = await failureOf(runTask(agent, "How is it?"));
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ kind: "AgentFailed", reason: "AnswerInvalid" });
  });

  it("infers the input of each tool by itself, so that a list of tools needs no cast", () => {
    const tools = [
      defineTool({
        name: "a",
        description: "",
        input: z.object({ n: z.number() }),
        execute: ({ n }) => n + 1,
      }),
      defineTool({
        name: "b",
        description: "",
        input: z.object({ s: z.string() }),
        execute: ({ s }) => s.trim(),
      }),
    ];
    expect(Object.keys(defineAgent({ llm, tools }).tools)).toEqual(["a", "b"]);
  });
});

describe("what a call costs", () => {
  const usage = { inputTokens: 1_000, cachedInputTokens: 400, cacheWriteTokens: 100, outputTokens: 50 };
  const cost = async (prices: PriceList, model = "big"): Promise<number | undefined> => {
    const agent = defineAgent({
      llm: new MockLlmCaller([answers("4", { usage, model })]),
      config: { models: { default: "asked" } },
      prices,
    });
    return (await runTask(agent, "2+2?")).usage.cost;
  };

  it("is counted by the model that answered, by kind of token", async () => {
    expect(await cost({ big: { input: 10, output: 100 } })).toBeCloseTo((1_000 * 10 + 50 * 100) / 1e6, 12);
    expect(await cost({ big: { input: 10, output: 100, cachedInput: 1, cacheWrite: 20 } })).toBeCloseTo(
      (500 * 10 + 400 * 1 + 100 * 20 + 50 * 100) / 1e6,
      12,
    );
  });

  it("falls back to the name it was asked by, to the default, to nothing", async () => {
    expect(await cost({ asked: { input: 10, output: 0 } })).toBeCloseTo(0.01, 12);
    expect(await cost({ default: { input: 20, output: 0 }, other: { input: 1, output: 1 } })).toBeCloseTo(
      0.02,
      12,
    );
    expect(await cost({ other: { input: 1, output: 1 } })).toBe(0);
    expect(await cost({}, "toString")).toBe(0);
  });

  it("counts towards the budget, and the call that reaches it is the last", async () => {
    const spending = new MockLlmCaller(() => answers("no", { usage: { inputTokens: 1_000 } }));
    const agent = defineAgent({
      llm: spending,
      answer: z.object({}),
      prices: { default: { input: 1_000, output: 0 } },
      config: { budget: { maxCost: 2 }, maxRetries: 99 },
    });
    const error = await failureOf(runTask(agent, "q"));
    expect(error).toMatchObject({ kind: "AgentFailed", reason: "BudgetExceeded", usage: { cost: 2 } });
    expect(spending.callCount).toBe(2);
  });
});
