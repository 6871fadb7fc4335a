import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { AgentError, defineAgent, runTask, startSession } from "../src/index.ts";
import { failureOf, toolOf } from "./support.ts";

const note = (llm: MockLlmCaller, call: number): string => {
  const last = llm.requests[call]?.messages.at(-1);
  return last?.role === "note" ? last.text : "";
};

type Tree = string | readonly Tree[];
const tree: z.ZodType<Tree> = z.union([z.string(), z.array(z.lazy(() => tree))]);
const node = z.object({
  name: z.string(),
  get children() {
    return z.array(node);
  },
});
const shape = z.discriminatedUnion("type", [
  z.object({ type: z.literal("circle"), radius: z.number() }),
  z.object({ type: z.literal("square"), side: z.number() }),
]);

describe("an answer whose schema has no object at its root", () => {
  it.each<[string, z.ZodType, unknown]>([
    ["a choice", z.enum(["spam", "ham"]), "spam"],
    ["a text", z.string(), "Oslo"],
    ["a number", z.number(), 4],
    ["a list", z.array(z.object({ city: z.string() })), [{ city: "Oslo" }]],
    ["a union of objects", shape, { type: "square", side: 2 }],
    ["an object or null", z.object({ a: z.number() }).nullable(), null],
    ["a union that contains itself", tree, ["a", ["b", []]]],
    [
      "a list of objects that contain themselves",
      z.array(node),
      [{ name: "a", children: [{ name: "b", children: [] }] }],
    ],
    ["anything", z.any(), [1]],
  ])("is the field of an object for the model, and itself for the user: %s", async (_, schema, value) => {
    const text = JSON.stringify({ value });
    const llm = new MockLlmCaller([answers(text)]);
    const result = await runTask(defineAgent({ llm, answer: schema }), "q");
    expect(result).toMatchObject({ answer: value, text });
    expect(llm.requests[0]?.answerSchema).toMatchObject({
      type: "object",
      required: ["value"],
      additionalProperties: false,
    });
  });

  it("is taken without the object as well, from a model that left it out", async () => {
    const llm = new MockLlmCaller([answers('["Oslo","Turin"]')]);
    const { answer } = await runTask(defineAgent({ llm, answer: z.array(z.string()) }), "q");
    expectTypeOf(answer).toEqualTypeOf<string[]>();
    expect(answer).toEqual(["Oslo", "Turin"]);
  });

  it("keeps the references of its schema", () => {
    const schemaOf = (answer: z.ZodType): unknown => {
      const { answerSchema } = defineAgent({ llm: new MockLlmCaller([]), answer }).config;
      return JSON.parse(answerSchema ?? "null");
    };
    expect(schemaOf(tree)).toEqual({
      type: "object",
      properties: { value: { $ref: "#/$defs/answer" } },
      required: ["value"],
      additionalProperties: false,
      $defs: {
        answer: { anyOf: [{ type: "string" }, { type: "array", items: { $ref: "#/$defs/answer" } }] },
      },
    });
    expect(schemaOf(z.array(node))).toMatchObject({
      properties: { value: { type: "array", items: { $ref: expect.stringMatching(/^#\/\$defs\/__/) } } },
      $defs: expect.objectContaining({}),
    });
  });

  it("does not fit where the value does not", async () => {
    const llm = new MockLlmCaller([
      answers('{"value":"eggs"}'),
      answers('{"valeu":"spam"}'),
      answers('{"value":"ham"}'),
    ]);
    const { answer } = await runTask(defineAgent({ llm, answer: z.enum(["spam", "ham"]) }), "q");
    expect(answer).toBe("ham");
    expect(llm.callCount).toBe(3);
  });
});

describe("an answer that does not fit", () => {
  const weather = z.object({ celsius: z.number() });

  it("is asked for again with the reason and the schema", async () => {
    const llm = new MockLlmCaller([
      answers("about 20"),
      answers('{"celsius":"warm"}'),
      answers('{"celsius":20}'),
    ]);
    await runTask(defineAgent({ llm, answer: weather }), "q");
    const schema = JSON.stringify(llm.requests[0]?.answerSchema);
    expect(note(llm, 1)).toContain("The answer is not JSON.");
    expect(note(llm, 2)).toContain("celsius: ");
    for (const call of [1, 2]) expect(note(llm, call)).toContain(schema);
  });

  it("does not repeat a schema of more than 4,000 characters", async () => {
    const long = z.object(
      Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`field_${index}`, z.number()])),
    );
    const llm = new MockLlmCaller([answers("{}"), answers("{}")]);
    await failureOf(
      runTask(defineAgent({ llm, answer: long, config: { retries: { maxAnswerRetries: 1 } } }), "q"),
    );
    expect(note(llm, 1)).toContain("the JSON Schema of this request");
    expect(note(llm, 1).length).toBeLessThan(2_000);
  });

  it("ends in an error with the number of tries, the reason and the last answer, and without the schema", async () => {
    const llm = new MockLlmCaller([
      callsTools([{ name: "look" }]),
      answers("about 20"),
      answers("no"),
      answers(`warm ${"x".repeat(5_000)}`),
    ]);
    const agent = defineAgent({
      llm,
      answer: weather,
      tools: [toolOf("look")],
      config: { retries: { maxAnswerRetries: 2 } },
    });
    const error = await failureOf(runTask(agent, "q"));
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ kind: "AgentFailed", reason: "AnswerInvalid" });
    const { message } = error as AgentError;
    expect(message).toMatch(
      /^After 3 tries the answer does not fit its schema: The answer is not JSON\. The last answer was: "warm x+/,
    );
    expect(message.length).toBeLessThan(600);
  });

  it("is what ends the loop in the last step, not the limit of steps", async () => {
    const llm = new MockLlmCaller(({ toolChoice }) =>
      toolChoice === "none" ? answers("three") : callsTools([{ name: "work" }]),
    );
    const config = { limits: { maxSteps: 2 } };
    const agent = defineAgent({
      llm,
      tools: [toolOf("work", () => "ok")],
      answer: z.object({ n: z.number() }),
      config,
    });
    const error = await failureOf(runTask(agent, "q"));
    expect(error).toMatchObject({ kind: "AgentFailed", reason: "AnswerInvalid" });
    expect(error).toHaveProperty(
      "message",
      expect.stringMatching(/^After 1 try the answer does not fit its schema: .*"three"\.$/),
    );
    expect(error).toHaveProperty("state.reActContext.control.failure.kind", "AnswerInvalid");
  });

  it("is asked for again in the last step, if a message has arrived meanwhile", async () => {
    const llm = new MockLlmCaller([answers("three"), answers('{"n":3}')]);
    const agent = defineAgent({
      llm,
      answer: z.object({ n: z.number() }),
      config: { limits: { maxSteps: 1 } },
    });
    const session = startSession(agent);
    const first = session.ask("q");
    const second = session.ask("and?");
    await expect(second).resolves.toMatchObject({ answer: { n: 3 } });
    await first.then(undefined, () => undefined);
  });

  it("is what ends the loop in the last step where it is too short, and is taken where no retry is left", async () => {
    const limits = { maxSteps: 1, minAnswerLength: 10 };
    const short = new MockLlmCaller(() => answers("Short."));
    const error = await failureOf(runTask(defineAgent({ llm: short, config: { limits } }), "q"));
    expect(error).toMatchObject({
      reason: "AnswerInvalid",
      message:
        'After 1 try the answer does not fit: It has 6 characters, and limits.minAnswerLength is 10. The last answer was: "Short.".',
    });
    const config = { limits, retries: { maxAnswerRetries: 0 } };
    expect((await runTask(defineAgent({ llm: short, config }), "q")).text).toBe("Short.");
  });

  it("does not fit if a double cannot hold one of its numbers", async () => {
    const llm = new MockLlmCaller([answers('{"order":9007199254740993}'), answers('{"order":7}')]);
    const agent = defineAgent({ llm, answer: z.object({ order: z.number() }) });
    expect((await runTask(agent, "Which?")).answer).toEqual({ order: 7 });
    expect(note(llm, 1)).toContain("at order cannot be kept: it would become 9007199254740992. Send it as");
  });

  it("does not fit if it has a key twice", async () => {
    const llm = new MockLlmCaller([answers('{"celsius":10,"celsius":20}'), answers('{"celsius":20}')]);
    expect((await runTask(defineAgent({ llm, answer: weather }), "q")).answer).toEqual({ celsius: 20 });
    expect(note(llm, 1)).toContain('The key "celsius" stands twice');
  });

  it.each([
    ["in a code fence", '```json\n{"celsius":20}\n```\n'],
    ["after thinking", '<think>It was {"celsius":10}.</think>\n{"celsius":20}'],
    ["after empty thinking", '<think>\n\n</think>\n\n{"celsius":20}'],
    ["after thinking without its first tag", 'It is mild.</think>{"celsius":20}'],
    ["in a code fence after thinking", '<think>Hm.</think>\n```json\n{"celsius":20}\n```'],
  ])("may stand %s", async (_, said) => {
    const llm = new MockLlmCaller([answers(said)]);
    const { answer, text } = await runTask(defineAgent({ llm, answer: weather }), "q");
    expect(answer).toEqual({ celsius: 20 });
    expect(text).toContain(said.trim());
  });

  it("keeps the end of a tag of thinking in one of its texts", async () => {
    const llm = new MockLlmCaller([answers('{"html":"</think>"}')]);
    const agent = defineAgent({ llm, answer: z.object({ html: z.string() }) });
    expect((await runTask(agent, "q")).answer).toEqual({ html: "</think>" });
  });

  it("is refused before it is parsed where it has a million items", async () => {
    const many = JSON.stringify({ celsius: Array.from({ length: 1_000_000 }, () => 0) });
    const llm = new MockLlmCaller([answers(many), answers('{"celsius":20}')]);
    await runTask(defineAgent({ llm, answer: weather }), "q");
    expect(note(llm, 1)).toContain("The answer has more than 100000 keys and items.");
  });
});

describe("a schema in config.answerSchema alone", () => {
  const answerSchema = JSON.stringify({
    type: "object",
    properties: { sum: { type: "number" } },
    required: ["sum"],
  });

  it("is checked like answer, and the answer stays text", async () => {
    const llm = new MockLlmCaller([answers("three"), answers('{"sum":"3"}'), answers('{"sum":3}')]);
    const { answer } = await runTask(defineAgent({ llm, config: { answerSchema } }), "1+2?");
    expectTypeOf(answer).toEqualTypeOf<string>();
    expect(answer).toBe('{"sum":3}');
    expect(note(llm, 1)).toContain("The answer is not JSON.");
    expect(note(llm, 2)).toContain("sum: ");
  });

  it("ends in the same error where no answer fits", async () => {
    const llm = new MockLlmCaller(() => answers("three"));
    const agent = defineAgent({ llm, config: { answerSchema, retries: { maxAnswerRetries: 0 } } });
    expect(await failureOf(startSession(agent).ask("1+2?"))).toMatchObject({
      reason: "AnswerInvalid",
      message:
        'After 1 try the answer does not fit its schema: The answer is not JSON. The last answer was: "three".',
    });
  });

  it("may be of a value that is not an object", async () => {
    const llm = new MockLlmCaller([answers('{"value":"spam"}')]);
    const agent = defineAgent({ llm, config: { answerSchema: '{"enum":["spam","ham"]}' } });
    expect((await runTask(agent, "q")).answer).toBe('{"value":"spam"}');
    expect(llm.requests[0]?.answerSchema).toMatchObject({ properties: { value: { enum: ["spam", "ham"] } } });
  });

  it("gives way to answer", () => {
    const agent = defineAgent({
      llm: new MockLlmCaller([]),
      answer: z.object({ n: z.number() }),
      config: { answerSchema },
    });
    expect(agent.config.answerSchema).toContain('"n"');
  });
});
