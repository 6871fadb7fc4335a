import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it, vi } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import {
  defineTool,
  type OutputOf,
  type StandardSchema,
  type Tool,
  type ToolContext,
  type ToolInput,
  type ToolOptions,
  type ToolOutput,
} from "../../src/index.ts";
import { isStandardSchema } from "../../src/internal.ts";
import { alone, runAlone } from "./run-alone.ts";

const citySchema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
} as const;

const options = { name: "weather", description: "The weather in a city." };
const shown = ({ city }: { readonly city: string }): string => `sunny in ${city}`;

const tools: Readonly<Record<string, Tool>> = {
  zod: defineTool({ ...options, input: z.object({ city: z.string() }), execute: shown }),
  valibot: defineTool({
    ...options,
    input: toStandardJsonSchema(v.object({ city: v.string() })),
    execute: shown,
  }),
  "valibot with its JSON Schema beside it": defineTool({
    ...options,
    input: v.object({ city: v.string() }),
    schema: citySchema,
    execute: shown,
  }),
  arktype: defineTool({ ...options, input: type({ city: "string" }), execute: shown }),
  "a JSON Schema": defineTool({
    ...options,
    input: citySchema,
    execute: ({ city }) => (typeof city === "string" ? shown({ city }) : expect.unreachable()),
  }),
};

describe.each(Object.entries(tools))("a tool whose input is %s", (_, tool) => {
  it("gives the model the JSON Schema, without the name of its dialect", () => {
    const schema = JSON.parse(tool.definition.schema);
    expect(schema).toMatchObject(citySchema);
    expect(schema).not.toHaveProperty("$schema");
    expect(tool.definition.description).toBe("The weather in a city.");
  });

  it("runs with arguments that fit", async () => {
    expect(tool.check('{"city":"Oslo"}')).toBeUndefined();
    expect(await runAlone(tool, { city: "Oslo" })).toEqual({ isSuccess: true, content: "sunny in Oslo" });
  });

  it("does not run with arguments that do not fit, and says where", async () => {
    expect(await tool.check('{"city":7}')).toContain("city");
    expect(await runAlone(tool, { city: 7 })).toMatchObject({
      isSuccess: false,
      code: "invalid-arguments",
      error: expect.stringContaining("city"),
    });
    expect(await runAlone(tool, {})).toMatchObject({ code: "invalid-arguments" });
  });
});

describe("the input of execute", () => {
  it("is what the schema makes of the arguments, in its type", async () => {
    const seen = vi.fn();
    const tool = defineTool({
      name: "wait",
      description: "Waits.",
      input: z.object({ seconds: z.string().transform(Number), tag: z.string().default("none") }),
      execute(input) {
        expectTypeOf(input).toEqualTypeOf<{ seconds: number; tag: string }>();
        seen(input);
      },
    });
    await runAlone(tool, { seconds: "12" });
    expect(seen).toHaveBeenCalledWith({ seconds: 12, tag: "none" });
  });

  it("has the types of valibot and arktype, too, and is JSON for a JSON Schema", () => {
    defineTool({
      ...options,
      input: toStandardJsonSchema(v.object({ city: v.string() })),
      execute: (input) => expectTypeOf(input).toEqualTypeOf<{ city: string }>(),
    });
    defineTool({
      ...options,
      input: type({ city: "string" }),
      execute: (input) => expectTypeOf(input).toEqualTypeOf<{ city: string }>(),
    });
    const tool = defineTool({
      ...options,
      input: citySchema,
      execute: (input) => expectTypeOf(input).toHaveProperty("city"),
    });
    expect(tool.name).toBe("weather");
  });

  it("is kept in the type of the tool, with what execute returns", () => {
    const wait = defineTool({
      name: "wait",
      description: "Waits.",
      input: z.object({ seconds: z.string().transform(Number) }),
      execute: async ({ seconds }) => ({ waited: seconds }),
    });
    expectTypeOf<ToolInput<typeof wait>>().toEqualTypeOf<{ seconds: number }>();
    expectTypeOf<ToolOutput<typeof wait>>().toEqualTypeOf<{ waited: number }>();
    const list: readonly Tool[] = [wait, ...Object.values(tools)];
    expectTypeOf<ToolInput<(typeof list)[number]>>().toBeUnknown();
    expect(list).toHaveLength(6);
  });

  it.each<[string, () => unknown, string]>([
    ["a Map", () => new Map([["Oslo", 21]]), "a Map; return Object.fromEntries(map)."],
    ["a function", () => () => 21, "a function; return data."],
    ["a class instance", () => new AbortController(), "return a plain object or give it a toJSON method."],
  ])(
    "does not say whether a result is JSON: a call that returns %s fails and says so",
    async (_, execute, problem) => {
      const tool = defineTool({ ...options, input: z.object({}), execute });
      expect(await runAlone(tool, "{}")).toMatchObject({
        isSuccess: false,
        code: "not-json",
        error: expect.stringContaining(problem),
      });
    },
  );

  it("is the same through a function that is generic in the result", () => {
    const readOnly = <Schema extends StandardSchema, Output>(
      given: ToolOptions<Schema, OutputOf<Schema>, Output>,
    ) => defineTool({ ...given, replay: "safe" });
    interface Forecast {
      readonly celsius: number;
    }
    const forecast = readOnly({
      ...options,
      input: z.object({ city: z.string() }),
      execute: async ({ city }): Promise<Forecast> => ({ celsius: city.length }),
    });
    expectTypeOf<ToolInput<typeof forecast>>().toEqualTypeOf<{ city: string }>();
    expectTypeOf<ToolOutput<typeof forecast>>().toEqualTypeOf<Forecast>();
    expect(forecast.definition.replay).toBe("safe");
  });

  it("is what the runner sent, and none of its objects", async () => {
    const inputs: unknown[] = [];
    const tool = defineTool({ ...options, input: citySchema, execute: (input) => void inputs.push(input) });
    await runAlone(tool, '{"city":"Oslo"}');
    await runAlone(tool, '{"city":"Oslo"}');
    expect(inputs[0]).toEqual({ city: "Oslo" });
    expect(inputs[0]).not.toBe(inputs[1]);
  });
});

describe("a mistake in the options", () => {
  const input = z.object({ city: z.string() });
  const execute = ({ city }: { readonly city: string }): string => city;

  it("is a type error at the option that is wrong, not at execute", () => {
    const misspelled = (): unknown =>
      defineTool({
        name: "weather",
        // @ts-expect-error a misspelled option, which is required
        desciption: "The weather.",
        input,
        execute: ({ city }) => city.toUpperCase(),
      });
    const otherwiseNamed = (): unknown =>
      defineTool({
        name: "weather",
        description: "The weather.",
        // @ts-expect-error the name that other libraries have for it
        parameters: input,
        execute: async ({ city }) => city,
      });
    const schemaOfSdk = (): unknown =>
      defineTool({
        name: "weather",
        description: "The weather.",
        // @ts-expect-error the name that other libraries have for it
        inputSchema: input,
        execute: ({ city }) => city,
      });
    const annotated = (): unknown =>
      defineTool({
        name: "weather",
        description: "The weather.",
        // @ts-expect-error the name that other libraries have for it
        inputSchema: input,
        execute: async ({ city }: { city: string }, { signal }: ToolContext) => [city, signal],
      });
    // @ts-expect-error there is no input
    const withoutInput = (): unknown => defineTool({ name: "weather", description: "The weather.", execute });
    expect(annotated).toThrow('Unknown option "inputSchema"');
    expect(withoutInput).toThrow("input");
    expect(misspelled).toThrow('Unknown option "desciption"');
    expect(otherwiseNamed).toThrow('Unknown option "parameters"');
    expect(schemaOfSdk).toThrow('Unknown option "inputSchema"');
  });

  it("is a type error for retries of a tool that runs once", () => {
    const described = { name: "weather", description: "The weather.", input, execute } as const;
    const once = (): unknown =>
      defineTool({
        ...described,
        // @ts-expect-error a call that never runs again is not repeated
        replay: "once",
        retries: 2,
      });
    // @ts-expect-error the default is "once"
    const byDefault = (): unknown => defineTool({ ...described, retries: 2 });
    expect(once).toThrow('its replay is "once"');
    expect(byDefault).toThrow('its replay is "once"');
    expect(defineTool({ ...described, replay: "keyed", retries: 2 }).definition.retries).toBe(2);
    expect(defineTool({ ...described, replay: "once", retries: 0 }).definition.retries).toBe(0);
    const retries: number = 2;
    expect(defineTool({ ...described, replay: "safe", retries }).definition.retries).toBe(2);
  });
});

it("joins problems that are sentences as sentences, and others with semicolons", async () => {
  const required = { type: "object", properties: { a: {}, b: {} }, required: ["a", "b"] };
  const sentences = await runAlone(defineTool({ ...options, input: required, execute: () => 1 }), "{}");
  expect(sentences).toMatchObject({ error: expect.stringMatching(/^[^;]*\. [^;]*$/) });
  const input = z.object({ a: z.string(), b: z.string() });
  expect(await runAlone(defineTool({ ...options, input, execute: () => 1 }), "{}")).toMatchObject({
    error: expect.stringMatching(/^a: .*[^.]; b: /),
  });
});

describe("a schema that answers later", () => {
  const later = defineTool({
    ...options,
    input: z.object({ city: z.string().refine(async (city) => city !== "Atlantis", "No such city.") }),
    execute: shown,
  });

  it("is waited for", async () => {
    expect(later.check('{"city":"Oslo"}')).toBeInstanceOf(Promise);
    expect(await later.check('{"city":"Oslo"}')).toBeUndefined();
    expect(await later.check('{"city":"Atlantis"}')).toBe("city: No such city.");
    expect(await runAlone(later, { city: "Atlantis" })).toMatchObject({ code: "invalid-arguments" });
  });
});

describe("a schema that throws", () => {
  const throwing = (validate: StandardSchema["~standard"]["validate"]): Tool =>
    defineTool({
      ...options,
      input: { "~standard": { version: 1, vendor: "test", validate } },
      schema: citySchema,
      execute: () => expect.unreachable(),
    });

  it.each([
    [
      "now",
      throwing(() => {
        throw new Error("out of order");
      }),
    ],
    ["later", throwing(() => Promise.reject(new Error("out of order")))],
  ])("refuses the arguments instead: %s", async (_, tool) => {
    const problem = "The arguments could not be checked: out of order";
    expect(await tool.check("{}")).toBe(problem);
    expect(await runAlone(tool, {})).toEqual({ isSuccess: false, code: "invalid-arguments", error: problem });
  });
});

describe("what cannot be a tool throws when it is defined", () => {
  const input = z.object({});
  const define = (change: object) => () =>
    defineTool({ name: "fine", description: "Fine.", input, execute: () => "", ...change });

  it.each(["", "a b", "ü", "a".repeat(65), "a.b", "tool\n", "<tool>", 7, undefined])("the name %j", (name) =>
    expect(define({ name })).toThrow(/^Invalid tool name .*\. Use 1 to 64 letters, digits, "_" or "-"/),
  );
  it.each(["toString", "constructor", "__proto__", "hasOwnProperty", "valueOf", "isPrototypeOf"])(
    "the name %s, which every object has (J01)",
    (name) => expect(define({ name })).toThrow(/^Invalid tool name/),
  );
  it.each(["then", "toJSON", "length", "prototype", "10"])("but not the name %s (J01)", (name) => {
    expect(define({ name })().name).toBe(name);
  });
  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0, -1, "10", 1.5])("the timeout %s (K04)", (timeoutMs) =>
    expect(define({ timeoutMs })).toThrow(/timeoutMs/),
  );
  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0, -1, "10", 1.5])("maxParallel %s (K04)", (maxParallel) =>
    expect(define({ maxParallel })).toThrow(/maxParallel/),
  );

  const shape = { city: z.string() };
  const zod3 = { _def: { typeName: "ZodObject" }, _cached: null, safeParse: () => undefined };
  const circle: Record<string, unknown> = { type: "object" };
  circle["properties"] = circle;
  const booking = z.object({ guests: z.array(z.object({ bornAt: z.optional(z.date()) })) });
  it.each<[string, object, string]>([
    [
      "an unknown risk",
      { risk: "huge" },
      'Invalid tool: fine.risk must be "low", "medium", "high" or "critical", got "huge".',
    ],
    [
      "an unknown replay",
      { replay: "maybe" },
      'Invalid tool: fine.replay must be "safe", "keyed" or "once", got "maybe".',
    ],
    [
      "an unknown approval",
      { approval: "sometimes" },
      'Invalid tool: fine.approval must be "always" or "never"',
    ],
    ["a limit of 0", { timeoutMs: 0 }, "Invalid tool: fine.timeoutMs must be greater than 0, got 0."],
    ["half a call", { maxParallel: 1.5 }, "Invalid tool: fine.maxParallel must be an integer, got 1.5."],
    [
      "no description",
      { description: undefined },
      "description of the tool fine is missing. It must be a text that is not blank.",
    ],
    [
      "a blank description",
      { description: " " },
      'description of the tool fine must be a text that is not blank, got " ".',
    ],
    [
      "a former name that no tool can have",
      { formerNames: ["a b"] },
      "formerNames of the tool fine must be a list of tool names, got an array.",
    ],
    [
      "less than nothing to spend",
      { spends: { tokens: -1 } },
      "spends.tokens of the tool fine must be a number of at least 0, got -1.",
    ],
    [
      "a probe that would never run",
      { replay: "safe", probe: () => "unknown" },
      'The tool fine has probe, but its replay is "safe": an interrupted call runs again.',
    ],
    [
      "an unknown outcome that cannot be",
      { replay: "keyed", onUnknown: "ask" },
      'The tool fine has onUnknown, but its replay is "keyed": an interrupted call runs again.',
    ],
    [
      "no execute",
      { execute: undefined },
      "execute of the tool fine is missing. It must be a function, (input) => result.",
    ],
    [
      "a probe that is not a function",
      { probe: true },
      "probe of the tool fine must be a function, got true.",
    ],
    [
      "a conversion that is not a function",
      { upcast: { amount: "cents" } },
      "upcast of the tool fine must be a function, got an object.",
    ],
    [
      "no input",
      { input: undefined },
      "The input of the tool fine is missing. Give a schema, such as z.object({}).",
    ],
    [
      "an input that is text",
      { input: "city" },
      'The input of the tool fine must be a schema, such as z.object({}), got "city".',
    ],
    [
      "a raw shape",
      { input: shape },
      "The input of the tool fine is an object of schemas. Wrap it: z.object({ ... }).",
    ],
    [
      "a zod 3 schema",
      { input: zod3 },
      "The input of the tool fine is a zod 3 schema, which gives no JSON Schema. Use zod 4.",
    ],
    [
      "an object that is not a JSON Schema",
      { input: { city: "string" } },
      "The input of the tool fine is not a JSON Schema.",
    ],
    ["a JSON Schema with a circle", { input: circle }, "The input of the tool fine is not a JSON Schema."],
    [
      "an invalid JSON Schema beside it",
      { schema: { city: 1 } },
      "The input of the tool fine, as JSON Schema, is not a JSON Schema.",
    ],
    [
      "an input that is not an object",
      { input: z.string() },
      'The input of the tool fine must be an object, got a schema of type "string". Wrap it: z.object({ value: ... }).',
    ],
    [
      "an input that fits no object",
      {
        input: { anyOf: [{ type: "string" }, { type: "object", required: ["a"], properties: { a: false } }] },
      },
      "The input of the tool fine must be an object, got a schema that no object fits. Wrap it: z.object({ value: ... }).",
    ],
    [
      "a type that JSON does not have",
      { input: booking },
      "The input of the tool fine has no JSON Schema at guests[].bornAt: Date cannot be represented in JSON Schema. Use a type that JSON has",
    ],
    [
      "a schema that gives no JSON Schema",
      { input: v.object({}) },
      "The input of the tool fine is a schema of valibot that gives no JSON Schema.",
    ],
    [
      "a schema of zod/mini",
      { input: mini.object({}) },
      "The input of the tool fine is a schema of zod/mini, which gives no JSON Schema by itself. Use a schema of zod; a tool may also give the JSON Schema beside: schema: z.toJSONSchema(input).",
    ],
  ])("%s", (_, change, message) => {
    expect(define(change)).toThrow(message);
    expect(define(change)).toThrow(expect.objectContaining({ name: "BuildError", kind: "BuildError" }));
  });

  it("no options at all", () =>
    expect(() => Reflect.apply(defineTool, undefined, [undefined])).toThrow(
      "defineTool needs an object of options, got undefined.",
    ));
});

describe("a schema of zod/mini", () => {
  it("checks the arguments, with its JSON Schema beside it", async () => {
    const input = mini.object({ city: mini.string() });
    const tool = defineTool({
      ...options,
      input,
      schema: mini.toJSONSchema(input, { io: "input" }),
      execute: shown,
    });
    expect(tool.definition).toEqual(tools["zod"]?.definition);
    expect(await runAlone(tool, '{"city":"Oslo"}')).toMatchObject({ content: "sunny in Oslo" });
    expect(await runAlone(tool, '{"city":1}')).toMatchObject({ isSuccess: false, code: "invalid-arguments" });
  });
});

describe("a definition", () => {
  it("is data, and says only what was said", () => {
    expect(JSON.parse(JSON.stringify(tools["zod"]?.definition))).toEqual(tools["zod"]?.definition);
    expect(Object.keys(tools["zod"]?.definition ?? {})).toEqual(["description", "schema"]);
  });

  it("carries risk, replay and limits", () => {
    const tool = defineTool({
      ...options,
      input: z.object({}),
      execute: () => "",
      probe: () => "unknown",
      risk: "high",
      approval: "always",
      replay: "once",
      onUnknown: "ask",
      timeoutMs: 5,
      maxParallel: 1,
    });
    expect(tool.definition).toMatchObject({
      risk: "high",
      approval: "always",
      replay: "once",
      onUnknown: "ask",
      timeoutMs: 5,
      maxParallel: 1,
      probe: true,
    });
  });
});

describe("isStandardSchema", () => {
  it("knows schemas that are objects and schemas that are functions", () => {
    expect([z.string(), v.string(), type("string")].every(isStandardSchema)).toBe(true);
    expect([citySchema, null, undefined, "x", () => 1].some(isStandardSchema)).toBe(false);
  });
});

describe("a probe", () => {
  const probed = (probe: () => unknown): Tool =>
    defineTool({ ...options, input: z.object({}), execute: () => "", probe: probe as () => "unknown" });

  it.each([
    ["not-run", "not-run", "not-run"],
    ["unknown", "unknown", "unknown"],
    ["an output", { output: { id: 4 } }, { isSuccess: true, content: '{"id":4}' }],
  ])("reports %s", async (_, found, outcome) => {
    expect(await probed(() => found).probe?.("{}", alone())).toEqual(outcome);
    expect(await probed(async () => found).probe?.("{}", alone())).toEqual(outcome);
  });

  it.each([null, 7, "ran", undefined])(
    "that returns %j, which is not a finding, does not know",
    async (found) => expect(await probed(() => found).probe?.("{}", alone())).toBe("unknown"),
  );

  it("does not know about arguments that fit no more, and is not called with them", async () => {
    const tool = defineTool({
      ...options,
      input: citySchema,
      execute: () => "",
      probe: () => expect.unreachable(),
    });
    expect(await tool.probe?.("{}", alone())).toBe("unknown");
  });
});
