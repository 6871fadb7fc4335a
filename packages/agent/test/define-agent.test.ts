import { defineTool } from "@moora/agent-core-effects";
import type { LlmSettings } from "@moora/llm";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import {
  AgentError,
  defineAgent,
  initialStateOf,
  runTask,
  type AgentConfig,
  type AgentConfigChange,
  type PriceList,
  type Tool,
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
    name: "BuildError",
    kind: "BuildError",
    message: expect.stringMatching(message),
  });

/** The same for a message that holds this text. */
const refusedWith = (text: string): unknown =>
  expect.objectContaining({
    name: "BuildError",
    kind: "BuildError",
    message: expect.stringContaining(text),
  });

describe("an invalid limit (K04)", () => {
  const positive = [
    "limits.maxSteps",
    "toolCalls.maxParallel",
    "toolCalls.maxPerTurn",
    "retries.maxToolAttempts",
    "retries.maxLlmAttempts",
    "window.initialSize",
    "window.expandBy",
  ];
  const counts = [
    "retries.maxAnswerRetries",
    "reflection.everyNSteps",
    "reflection.aboveInputTokens",
    "limits.minAnswerLength",
    "retries.delayMs",
    "retries.maxDelayMs",
  ];
  const never = [Number.NaN, Number.POSITIVE_INFINITY, -1, "10", 1.5, null];
  const withField = (path: string, value: unknown): object => {
    const [group = "", name = ""] = path.split(".");
    return { config: { [group]: { [name]: value } } };
  };

  it.each(positive)("config.%s must be a positive integer", (path) => {
    for (const limit of [...never, 0])
      expect(define(withField(path, limit))).toEqual(refusedWith(`config.${path}`));
    expect(define(withField(path, 1))).not.toBeInstanceOf(Error);
  });

  it.each(counts)("config.%s must be a positive integer or 0", (path) => {
    for (const limit of never) expect(define(withField(path, limit))).toEqual(refusedWith(`config.${path}`));
    expect(define(withField(path, 0))).not.toBeInstanceOf(Error);
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
    "runLimits.%s must be a positive integer",
    (name) => {
      for (const limit of [...never, 0])
        expect(define({ runLimits: { [name]: limit } })).toEqual(refused(name));
      expect(define({ runLimits: { [name]: 1 } })).not.toBeInstanceOf(Error);
    },
  );

  it("runLimits.maxResultLength is at most what a log can keep", () =>
    expect(define({ runLimits: { maxResultLength: 9_000_000 } })).toEqual(refused("fits a log")));

  it("a price is an amount", () => {
    for (const price of [Number.NaN, Number.POSITIVE_INFINITY, -1, "1"])
      expect(define({ prices: { big: { input: 1, output: price } } })).toEqual(refused("prices.big.output"));
    expect(define({ prices: { big: { input: 0, output: 0.5 } } })).not.toBeInstanceOf(Error);
  });

  it.each<[unknown, string]>([
    [{}, "prices is empty. Name at least one model"],
    [[], "prices must be an object such as"],
    [null, "prices must be an object such as"],
    [{ big: 3 }, "prices.big needs an object of options, got 3."],
    [{ big: { input: 1 } }, "prices.big.output is missing. It must be a number of at least 0."],
    [
      { big: { input: 1, output: 1, cacheWrite: "1" } },
      'prices.big.cacheWrite must be a number of at least 0, got "1".',
    ],
  ])("a price list that no budget could be counted with is refused with its path: %j", (prices, message) =>
    expect(define({ prices })).toEqual(refusedWith(message)),
  );
});

describe("what can never work is refused when the agent is defined", () => {
  const graph = (more: object): object => ({
    config: { graph: { states: [], rows: {}, terminals: [], ...more } },
  });
  const check = { states: ["Check"], rows: { Planning: { LlmFinalAnswer: "Check" }, Check: { Ok: "Done" } } };
  const handler = (): string => "Ok";
  const renamed = (name: string, ...formerNames: string[]): unknown => {
    const tool = toolOf(name);
    return { ...tool, definition: { ...tool.definition, formerNames } };
  };

  it.each<[string, object, RegExp]>([
    [
      "a former name that another tool has",
      { tools: [toolOf("a"), renamed("b", "a")] },
      /^tools\[1\]: formerNames of the tool b has "a", which names the tool a/,
    ],
    [
      "a name that another tool had",
      { tools: [renamed("b", "a"), toolOf("a")] },
      /^tools\[1\]: the tool name "a" is a former name of the tool b/,
    ],
    [
      "its own name as a former one",
      { tools: [renamed("b", "b")] },
      /"b", which names the tool b\. Remove it\.$/,
    ],
    ["a former name twice", { tools: [renamed("b", "a"), renamed("c", "a")] }, /"a", which names the tool b/],
    ["a former name that no provider accepts", { tools: [renamed("b", "a b")] }, /^Invalid tool name "a b"/],
    [
      "a former name of an internal tool",
      { tools: [renamed("b", "find_tool_calls")] },
      /formerNames of the tool b has "find_tool_calls", which is reserved/,
    ],
    ["a name taken twice", { tools: [toolOf("a"), toolOf("a")] }, /^tools\[1\]: the tool name "a" is taken/],
    [
      "the name of an internal tool",
      { tools: [toolOf("find_tool_calls")] },
      /is reserved for an internal tool/,
    ],
    ["a hostile name", { tools: [{ ...toolOf("a"), name: "__proto__" }] }, /^Invalid tool name "__proto__"/],
    [
      "a tool written by hand with an invalid limit",
      { tools: [{ ...toolOf("a"), definition: { description: "", schema: "{}", timeoutMs: 0 } }] },
      /^tools\[0\]: a\.definition\.timeoutMs must be greater than 0, got 0\.$/,
    ],
    [
      "an unknown field",
      { config: { maxStep: 3 } },
      /^config\.maxStep: unknown field\. Did you mean "limits\.maxSteps"\?$/,
    ],
    ["an unknown policy", { config: { approval: { policy: "perhaps" } } }, /config\.approval\.policy/],
    [
      "a policy without its predicate",
      { config: { approval: { policy: { predicate: "big" } } } },
      /^config\.approval\.policy\.predicate: "big" is not a name in predicates\.$/,
    ],
    [
      "a predicate that every object has",
      { config: { approval: { policy: { predicate: "toString" } } } },
      /"toString" is not a name in predicates/,
    ],
    [
      "a tool to be called that is not there",
      { config: { toolChoice: { name: "a" } } },
      /^config\.toolChoice\.name: "a" is not a tool of this agent\.$/,
    ],
    ["a state without a handler", graph(check), /The state Check has no handler/],
    [
      "a handler without a state",
      { states: { Check: handler } },
      /^states\.Check: "Check" is not a state of config\.graph\.$/,
    ],
    ["a row that leads nowhere", graph({ rows: { Planning: { X: "Gone" } } }), /leads to no state/],
    ["a row from nowhere", graph({ rows: { Gone: { X: "Done" } } }), /is not a state/],
    ["a row out of an end", graph({ rows: { Done: { X: "Planning" } } }), /where every loop ends/],
    [
      "a state that nothing leads to",
      { ...graph({ states: ["Lost"], rows: { Lost: { X: "Done" } } }), states: { Lost: handler } },
      /No row leads to the state Lost/,
    ],
    ["a terminal that is not a state", graph({ terminals: ["Gone"] }), /terminal state Gone is not defined/],
    ["a built-in state once more", graph({ states: ["Planning"] }), /is built in/],
    ["settings that are not JSON", { config: { settings: { seed: Number.NaN } } }, /config\.settings\.seed/],
    ["settings with code", { config: { settings: { hook: () => 1 } } }, /config\.settings\.hook/],
    ["a lone surrogate in the system prompt", { systemPrompt: "a\ud800" }, /config\.systemPrompt/],
  ])("%s", (_, options, message) => expect(define(options)).toEqual(refused(message)));

  it("but not a state that has one", () =>
    expect(define({ ...graph(check), states: { Check: handler } })).not.toBeInstanceOf(Error));

  it("an answer schema without JSON Schema throws as well", () =>
    expect(
      define({ answer: { "~standard": { version: 1, vendor: "own", validate: () => ({ value: 1 }) } } }),
    ).toEqual(refusedWith("answer is a schema of own that gives no JSON Schema.")));
});

describe("a name in a policy that matches no tool is refused, with the nearest one", () => {
  const tools = [toolOf("refund"), toolOf("search")];

  it.each<[object, string]>([
    [
      { approval: { policy: { tools: ["search", "refnd"] } } },
      'config.approval.policy.tools[1]: "refnd" is not a tool of this agent. Did you mean "refund"?',
    ],
    [
      { toolCalls: { blacklist: ["Refund"] } },
      'config.toolCalls.blacklist[0]: "Refund" is not a tool of this agent. Did you mean "refund"?',
    ],
    [
      { toolCalls: { blacklist: ["nope"] } },
      'config.toolCalls.blacklist[0]: "nope" is not a tool of this agent.',
    ],
    [
      { toolChoice: { name: "serch" } },
      'config.toolChoice.name: "serch" is not a tool of this agent. Did you mean "search"?',
    ],
    [
      { toolChoice: { name: "search" }, toolCalls: { blacklist: ["search"] } },
      'config.toolChoice.name is "search", which config.toolCalls.blacklist forbids. Remove one of them.',
    ],
    [
      { approval: { policy: { predicate: "bigRefund" } } },
      'config.approval.policy.predicate: "bigRefund" is not a name in predicates. Did you mean "bigRefunds"?',
    ],
    [
      { models: { calculation: "big" }, taskType: "calulation" },
      'config.models has no model for the task type "calulation" and no "default". Did you mean "calculation"?',
    ],
    [
      { models: { research: "big", reflect: "small" } },
      'config.models has no model for the task type "default" and no "default". It has "research".',
    ],
  ])("%j", (config, message) =>
    expect(define({ tools, config, predicates: { bigRefunds: () => true } })).toEqual(refusedWith(message)),
  );

  it.each<[string, object]>([
    [
      "names of its tools",
      { approval: { policy: { tools: ["refund"] } }, toolCalls: { blacklist: ["search"] } },
    ],
    ["a table with models for other tasks", { models: { default: "small", research: "big" } }],
    ["a model for summaries only", { models: { reflect: "small" } }],
    ["a task type without a model, beside a default", { models: { default: "small" }, taskType: "mail" }],
  ])("but not %s", (_, config) => expect(define({ tools, config })).not.toBeInstanceOf(Error));
});

describe("what is put where something else is expected is refused, with the place and the fix", () => {
  it.each<[string, unknown, string]>([
    ["no options", undefined, "defineAgent needs an object of options, got undefined."],
    ["no model", {}, 'llm is missing. It must be a model, such as openai("gpt-5.5").'],
    ["the name of a model", { llm: "gpt-5" }, 'llm must be a model, such as openai("gpt-5.5"), got "gpt-5".'],
    [
      "an object that is not a caller",
      { llm: { name: "x" } },
      'llm must be a model, such as openai("gpt-5.5"), got an object.',
    ],
    [
      "a group of config",
      { llm, limits: { maxSteps: 3 } },
      'Unknown option "limits" of defineAgent. It is a field of config: config: { limits: ... }.',
    ],
    [
      "a field of config",
      { llm, maxSteps: 3 },
      'Unknown option "maxSteps" of defineAgent. It is a field of config: config: { limits: { maxSteps: ... } }.',
    ],
    [
      "an option of another library",
      { llm, memory: 1 },
      'Unknown option "memory" of defineAgent. Known options: llm, tools, systemPrompt,',
    ],
    [
      "a system prompt that is not a string",
      { llm, systemPrompt: 7 },
      "systemPrompt must be a string, got 7.",
    ],
    ["a config that is not an object", { llm, config: [] }, "config must be an object, got an array."],
    [
      "tools that are not a list",
      { llm, tools: toolOf("a") },
      "tools must be an array of tools, got an object.",
    ],
    [
      "a plain object as a tool",
      { llm, tools: [toolOf("a"), { name: "b", description: "B", execute: () => 1 }] },
      "tools[1] was not created by defineTool. Define it with defineTool({ name, description, input, execute }).",
    ],
    ["a function as a tool", { llm, tools: [() => 1] }, "tools[0] must be a tool, got a function."],
    [
      "an answer that is not a schema",
      { llm, answer: "json" },
      'answer must be a schema, such as z.object({}), got "json".',
    ],
    [
      "an answer that is a raw shape",
      { llm, answer: { n: z.number() } },
      "answer is an object of schemas. Wrap it: z.object({ ... }).",
    ],
    [
      "an answer with a date",
      { llm, answer: z.object({ due: z.date() }) },
      "answer has no JSON Schema at due: Date cannot be represented in JSON Schema.",
    ],
    [
      "an answer schema that is not JSON",
      { llm, config: { answerSchema: "{" } },
      "config.answerSchema must be the JSON text of a JSON Schema",
    ],
    [
      "an answer schema that is a list",
      { llm, config: { answerSchema: "[]" } },
      "config.answerSchema must be the JSON text of a JSON Schema",
    ],
    [
      "a predicate that is not a function",
      { llm, predicates: { big: true } },
      "predicates.big must be a function, got true.",
    ],
    [
      "a limit of 0",
      { llm, runLimits: { toolTimeoutMs: 0 } },
      "runLimits.toolTimeoutMs must be a positive integer, got 0.",
    ],
  ])("%s", (_, options, message) => {
    const defined = (): unknown => Reflect.apply(defineAgent, undefined, [options]);
    expect(defined).toThrow(message);
    expect(defined).toThrow(expect.objectContaining({ name: "BuildError", kind: "BuildError" }));
  });

  it.each<[object, string]>([
    [{ settings: { maxTokens: 3 } }, "config.settings.maxTokens: unknown field."],
    [{ settings: { temperature: "hot" } }, 'config.settings.temperature must be a finite number, got "hot".'],
    [{ settings: { topP: 3 } }, "config.settings.topP must be at most 1, got 3."],
    [{ settings: { maxOutputTokens: 0.5 } }, "config.settings.maxOutputTokens must be an integer, got 0.5."],
    [{ settings: { stop: ["a", 1] } }, "config.settings.stop[1] must be a string, got 1."],
    [
      { settings: { reasoningEffort: "huge" } },
      'config.settings.reasoningEffort must be "none", "minimal", "low", "medium", "high" or "max", got "huge".',
    ],
    [
      { settings: { providerOptions: { openai: 3 } } },
      "config.settings.providerOptions.openai must be an object, got 3.",
    ],
    [{ budget: { maxReasoningTokens: 3 } }, "config.budget.maxReasoningTokens: unknown field."],
    [{ approval: {} }, 'config.approval.policy is missing. It must be "never" or "always" or an object.'],
    [
      { approval: { policy: "allways" } },
      'config.approval.policy must be "never" or "always" or an object, got "allways".',
    ],
    [
      { approval: { policy: { above: "huge" } } },
      'config.approval.policy.above must be "low", "medium", "high" or "critical", got "huge".',
    ],
    [{ interjection: "wait" }, 'config.interjection must be "queue", "restart" or "reject", got "wait".'],
    [{ models: { default: 5 } }, "config.models.default must be a string, got 5."],
    [{ limits: { minConfidence: 2 } }, "config.limits.minConfidence must be at most 1, got 2."],
    [{ limits: 5 }, "config.limits must be an object, got 5."],
    [{ window: null }, "config.window must be an object, got null."],
    [{ retries: { maxRetry: 5 } }, "config.retries.maxRetry: unknown field."],
    [{ maxParalel: 5 }, 'config.maxParalel: unknown field. Did you mean "toolCalls.maxParallel"?'],
    [{ limits: { maxSteps: "10" } }, 'config.limits.maxSteps must be a finite number, got "10".'],
    [{ toolCalls: { parallel: "no" } }, 'config.toolCalls.parallel must be true or false, got "no".'],
  ])("a field of config at any depth: %j", (config, message) =>
    expect(define({ config })).toEqual(refusedWith(message)),
  );

  it("an undefined field is the same as a missing one, at any depth", () => {
    const undefinedFields: object = {
      systemPrompt: undefined,
      limits: undefined,
      retries: { maxLlmAttempts: undefined },
      settings: { temperature: undefined },
      budget: { maxTokens: undefined },
      approval: { policy: "never", expiresAfterMs: undefined },
    };
    const agent = Reflect.apply(defineAgent, undefined, [
      { llm, config: undefinedFields, runLimits: { toolTimeoutMs: undefined } },
    ]);
    expect(agent.config).toEqual(defineAgent({ llm }).config);
    expect(agent.runLimits).toEqual(defineAgent({ llm }).runLimits);
    expect(Object.keys(agent.config.settings)).toEqual([]);
  });

  it("but not fields of providers and names of models", () =>
    expect(
      define({
        config: {
          models: { default: "a", mail: "b" },
          settings: {
            temperature: 0,
            providerOptions: { openai: { service_tier: "flex", deep: { any: [1] } } },
          },
        },
      }),
    ).not.toBeInstanceOf(Error));

  it("settings have the type of the port", () => {
    expectTypeOf<AgentConfig["settings"]>().toExtend<LlmSettings>();
    expectTypeOf<LlmSettings>().toExtend<AgentConfig["settings"]>();
    // @ts-expect-error A misspelt setting does not compile.
    expect(() => defineAgent({ llm, config: { settings: { temperatur: 3 } } })).toThrow("temperature");
  });
});

describe("the tools of an agent", () => {
  const named = <Name extends string>(name: Name) =>
    defineTool({ name, description: "Does it.", input: z.object({}), execute: () => "done" });

  it("may be a list of unknown length with others after it, as of the tools of a server", () => {
    const list: readonly Tool[] = [named("read")];
    const agent = defineAgent({ llm, tools: [...list, named("write")] });
    expect(Object.keys(agent.tools)).toEqual(["read", "write"]);
    const around = defineAgent({ llm, tools: [named("write"), ...list, ...list.slice(1)] });
    expect(Object.keys(around.tools)).toEqual(["write", "read"]);
    const changing: Tool[] = [...list];
    expect(Object.keys(defineAgent({ llm, tools: changing }).tools)).toHaveLength(1);
  });

  it("keep their types where they are written down", () => {
    const agent = defineAgent({ llm, tools: [named("read"), named("write")] });
    expectTypeOf<NonNullable<(typeof agent)["~tools"]>["name"]>().toEqualTypeOf<"read" | "write">();
  });
});

describe("an agent is a value", () => {
  it("whose state is the same each time, and JSON", () => {
    const agent = defineAgent({
      llm,
      tools: [toolOf("a")],
      systemPrompt: "Be brief.",
      config: { limits: { maxSteps: 3 } },
    });
    expect(initialStateOf(agent)).toEqual(initialStateOf(agent));
    expect(JSON.parse(JSON.stringify(initialStateOf(agent)))).toEqual(initialStateOf(agent));
    expect(agent).toMatchObject({
      name: "agent",
      version: "0",
      config: { systemPrompt: "Be brief.", limits: { maxSteps: 3 } },
    });
  });

  it("that does not change when what it was made of does", () => {
    const stop = ["x"];
    const config: AgentConfigChange = { settings: { stop }, toolCalls: { blacklist: stop } };
    const agent = defineAgent({ llm, config, tools: [toolOf("x"), toolOf("y")] });
    stop.push("y");
    expect(agent.config.settings).toEqual({ stop: ["x"] });
    expect(agent.config.toolCalls.blacklist).toEqual(["x"]);
  });

  it("has the systemPrompt that is given over that of its config", () =>
    expect(defineAgent({ llm, systemPrompt: "a", config: { systemPrompt: "b" } }).config.systemPrompt).toBe(
      "a",
    ));
});

describe("the type of an answer", () => {
  const weather = z.object({ celsius: z.number(), sky: z.enum(["clear", "overcast"]) });

  it("is that of its schema", async () => {
    const typed = new MockLlmCaller([answers('{"celsius":21,"sky":"clear"}')]);
    const agent = defineAgent({ llm: typed, answer: weather });
    const { answer, text } = await runTask(agent, "How is it in Oslo?");
    expectTypeOf(answer).toEqualTypeOf<{ celsius: number; sky: "clear" | "overcast" }>();
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
      answers('{"celsius":20,"sky":"overcast"}'),
    ]);
    const { answer } = await runTask(defineAgent({ llm: again, answer: weather }), "How is it?");
    expect(answer).toEqual({ celsius: 20, sky: "overcast" });
    expect(JSON.stringify(again.requests[1]?.messages.at(-1))).toContain("The answer is not JSON.");
    expect(JSON.stringify(again.requests[2]?.messages.at(-1))).toContain("celsius: ");
  });

  it("fails the run where it never fits", async () => {
    const agent = defineAgent({
      llm: new MockLlmCaller(() => answers("no")),
      answer: weather,
      config: { retries: { maxAnswerRetries: 2 } },
    });
    const error = await failureOf(runTask(agent, "How is it?"));
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ kind: "AgentFailed", reason: "AnswerInvalid" });
  });

  it("infers the input of each tool by itself, so that a list of tools needs no cast", () => {
    const tools = [
      defineTool({
        name: "a",
        description: "Adds one.",
        input: z.object({ n: z.number() }),
        execute: ({ n }) => n + 1,
      }),
      defineTool({
        name: "b",
        description: "Trims.",
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

  it("falls back to the model that it is a version of, to the default, to nothing", async () => {
    expect(await cost({ big: { input: 10, output: 0 } }, "big-2026-01-31")).toBeCloseTo(0.01, 12);
    expect(await cost({ asked: { input: 10, output: 0 } })).toBe(0);
    expect(await cost({ default: { input: 20, output: 0 }, other: { input: 1, output: 1 } })).toBeCloseTo(
      0.02,
      12,
    );
    expect(await cost({ other: { input: 1, output: 1 } })).toBe(0);
    expect(await cost({ other: { input: 1, output: 1 } }, "toString")).toBe(0);
  });

  it("counts against the budget, and the call that reaches it is the last", async () => {
    const spending = new MockLlmCaller(() => answers("no", { usage: { inputTokens: 1_000 } }));
    const agent = defineAgent({
      llm: spending,
      answer: z.object({}),
      prices: { default: { input: 1_000, output: 0 } },
      config: { budget: { maxCost: 2 }, retries: { maxAnswerRetries: 99 } },
    });
    const error = await failureOf(runTask(agent, "q"));
    expect(error).toMatchObject({ kind: "AgentFailed", reason: "BudgetExceeded", usage: { cost: 2 } });
    expect(spending.callCount).toBe(2);
  });
});
