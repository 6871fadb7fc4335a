import { describe, expect, it } from "vitest";
import {
  agentEventSchema,
  parseInput,
  parseState,
  initialAgentState,
  agentTransition,
  inputSchemas,
} from "../src/index.ts";
import { maxJsonDepth, jsonCopy, maxJsonItems, maxJsonLength, parseStoredInput } from "../src/internal.ts";

const good = { type: "user-message-received", messageId: "m", content: "hi", timestamp: 1 };
const handled = { type: "state-handled", key: "state/1/1/1", event: "Ok", timestamp: 1 };
const problemOf = (value: unknown) => {
  const parsed = parseInput(value);
  return parsed.ok ? undefined : { code: parsed.problem.code, path: parsed.problem.path };
};
const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
};
const cyclic: Record<string, unknown> = { ...good };
cyclic["self"] = cyclic;
class Instance {
  readonly type = "user-message-received";
}

describe("parseInput", () => {
  it("takes a trace note of 1,000 characters with 4,000 characters of data", () => {
    const trace = { text: "x".repeat(1_000), data: ["x".repeat(3_996)] };
    expect(parseInput({ ...handled, trace })).toEqual({ ok: true, input: { ...handled, trace } });
  });

  it("refuses trace data that contains itself, also by the schema alone", () => {
    const input = { ...handled, trace: { text: "x", data: cyclic } };
    expect(problemOf(input)).toEqual({ code: "cyclic", path: "trace.data.self" });
    expect(agentEventSchema.safeParse(input).success).toBe(false);
  });

  it("refuses a configuration whose graph cannot work, and takes it from a log", () => {
    const graph = { states: ["Out"], rows: { Planning: { LlmFinalAnswer: "Out" } }, terminals: ["Gone"] };
    const input = { type: "agent-configured", config: { graph }, timestamp: 1 };
    expect(parseInput(input)).toMatchObject({
      problem: {
        code: "wrong-shape",
        path: "config.graph",
        message: "The terminal state Gone is not defined.",
      },
    });
    expect(parseStoredInput(input).ok).toBe(true);
    const long = { ...input, config: { graph: { ...graph, terminals: ["x".repeat(5_000)] } } };
    const parsed = parseInput(long);
    expect(parsed.ok ? "" : parsed.problem.message).toHaveLength(500);
  });

  it("takes an input and gives a copy without fields that no input has", () => {
    const given = { ...good, extra: 1 };
    const parsed = parseInput(given);
    expect(parsed).toEqual({ ok: true, input: good });
    given.content = "changed";
    expect(parsed).toMatchObject({ input: { content: "hi" } });
  });

  it.each<[string, unknown, string, string]>([
    ["an unknown type", { ...good, type: "user-message-sent" }, "unknown-type", "type"],
    ["a type that is a name of Object.prototype", { ...good, type: "toString" }, "unknown-type", "type"],
    ["no object", "hello", "unknown-type", "type"],
    ["null", null, "unknown-type", "type"],
    ["a wrong shape, with its path", { ...good, timestamp: "now" }, "wrong-shape", "timestamp"],
    ["a missing field", { type: "deadline-passed", timestamp: 1 }, "wrong-shape", "key"],
    ["an empty id", { ...good, messageId: "" }, "wrong-shape", "messageId"],
    ["an id of 201 characters", { ...good, messageId: "x".repeat(201) }, "wrong-shape", "messageId"],
    [
      "a wrong shape deep inside",
      {
        type: "re-act-observed",
        calledLlmAt: 1,
        timestamp: 1,
        observation: {
          type: "continue-re-act",
          toolCalls: { call_1: { name: "n", parameters: 3, calledAt: 1 } },
        },
      },
      "wrong-shape",
      "observation.toolCalls.call_1.parameters",
    ],
    ["a trace note without text", { ...handled, trace: { data: 1 } }, "wrong-shape", "trace.text"],
    ["an empty trace note", { ...handled, trace: { text: "" } }, "wrong-shape", "trace.text"],
    ["a trace note that is text", { ...handled, trace: "noted" }, "wrong-shape", "trace"],
    [
      "a trace note of 1,001 characters",
      { ...handled, trace: { text: "x".repeat(1_001) } },
      "wrong-shape",
      "trace.text",
    ],
    [
      "4,001 characters of trace data",
      { ...handled, trace: { text: "x", data: "x".repeat(3_999) } },
      "wrong-shape",
      "trace.data",
    ],
    [
      "trace data that is not JSON",
      { ...handled, trace: { text: "x", data: { at: [NaN] } } },
      "not-json",
      "trace.data.at[0]",
    ],
    ["undefined", undefined, "not-json", ""],
    ["an undefined field", { ...good, attachments: undefined }, "not-json", "attachments"],
    ["NaN", { ...good, timestamp: NaN }, "not-json", "timestamp"],
    ["Infinity", { ...good, timestamp: Infinity }, "not-json", "timestamp"],
    ["-0", { ...good, timestamp: -0 }, "not-json", "timestamp"],
    ["a function", { ...good, content: () => "hi" }, "not-json", "content"],
    ["a bigint", { ...good, timestamp: 1n }, "not-json", "timestamp"],
    ["a symbol as key", { ...good, [Symbol("s")]: 1 }, "not-json", ""],
    ["a date", { ...good, timestamp: new Date(0) }, "not-json", "timestamp"],
    ["an instance of a class", new Instance(), "not-json", ""],
    [
      "a further key of an array",
      { ...good, attachments: Object.assign([], { extra: 1 }) },
      "not-json",
      "attachments.extra",
    ],
    ["a hole in an array", { ...good, attachments: Array(1) }, "not-json", "attachments[0]"],
    [
      "a getter that throws",
      {
        ...good,
        get content(): string {
          throw new Error("no");
        },
      },
      "not-json",
      "",
    ],
    ["a cycle", cyclic, "cyclic", "self"],
    ["a lone surrogate", { ...good, content: "a\ud800b" }, "ill-formed-string", "content"],
    ["a lone surrogate in a key", { ...good, "\udc00": 1 }, "ill-formed-string", "\udc00"],
    [
      "a __proto__ key",
      JSON.parse('{"type":"user-message-received","__proto__":{"messageId":"m"}}'),
      "hostile-key",
      "__proto__",
    ],
    ["a text of 50 MB", { ...good, content: "x".repeat(50_000_000) }, "too-large", "content"],
  ])("refuses %s", (_, value, code, path) => expect(problemOf(value)).toEqual({ code, path }));

  it("refuses a depth of 10,000 and of 1,000,000 without overflowing the stack", () => {
    expect(problemOf({ ...good, extra: nested(10_000) })?.code).toBe("too-deep");
    expect(problemOf({ ...good, extra: nested(1_000_000) })?.code).toBe("too-deep");
  });

  it("refuses an object of a million keys, an array of a million items, and many small ones, without reading on", () => {
    const keys = Object.fromEntries(Array.from({ length: 1_000_000 }, (_, index) => [`k${index}`, 0]));
    const unread = Object.defineProperty(keys, "k0", { get: () => expect.unreachable(), enumerable: true });
    expect(problemOf({ ...good, extra: { unread } })).toEqual({ code: "too-large", path: "extra.unread" });
    expect(problemOf({ ...good, extra: Array(1_000_000) })).toEqual({ code: "too-large", path: "extra" });
    const small = Array.from({ length: 1_000 }, () => Array.from({ length: 1_000 }, () => 0));
    expect(problemOf({ ...good, extra: small })).toEqual({ code: "too-large", path: "extra[98]" });
    expect(jsonCopy(small, 1_001_000)).toHaveProperty("copy");
  });

  it("accepts what is exactly at its limits", () => {
    expect(jsonCopy(Array(maxJsonItems).fill(0))).toHaveProperty("copy");
    expect(jsonCopy(Array(maxJsonItems + 1).fill(0))).toHaveProperty("problem");
    expect(jsonCopy(nested(maxJsonDepth))).toHaveProperty("copy");
    expect(jsonCopy(nested(maxJsonDepth + 1))).toHaveProperty("problem");
    expect(jsonCopy("x".repeat(maxJsonLength))).toHaveProperty("copy");
  });

  it("leaves the state as it is for an input of an unknown type that was not parsed", () => {
    const state = initialAgentState();
    // A host in plain JavaScript can do this.
    const bogus = { type: "constructor", timestamp: 1 } as unknown as Parameters<typeof agentTransition>[0];
    expect(agentTransition(bogus)(state)).toBe(state);
  });

  it("keeps Object.prototype as it was", () => {
    const before = Reflect.ownKeys(Object.prototype);
    for (const key of [
      "__proto__",
      "constructor",
      "prototype",
      "toString",
      "hasOwnProperty",
      "valueOf",
      "then",
      "toJSON",
      "length",
      "",
    ]) {
      parseInput({
        type: "re-act-observed",
        calledLlmAt: 1,
        timestamp: 1,
        observation: {
          type: "continue-re-act",
          toolCalls: Object.defineProperty({}, key, {
            value: { name: key, parameters: "{}", calledAt: 1 },
            enumerable: true,
          }),
        },
      });
    }
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
  });
});

describe("the table of input schemas", () => {
  it.each(Object.entries(inputSchemas))("has the schema of %s under its name", (type, schema) => {
    expect([...schema.shape.type.def.values]).toEqual([type]);
  });
});

describe("parseState", () => {
  it("takes a state that was stored", () => {
    const state = initialAgentState();
    expect(parseState(JSON.parse(JSON.stringify(state)))).toEqual({ ok: true, state });
  });

  it.each<[string, unknown, string, string]>([
    ["a newer version", { ...initialAgentState(), version: 2 }, "unsupported-version", "version"],
    ["no version", {}, "unsupported-version", "version"],
    ["an array", [], "not-a-state", ""],
    ["a missing field", { ...initialAgentState(), transcript: null }, "not-a-state", "transcript"],
    [
      "a graph that cannot work",
      {
        ...initialAgentState(),
        config: { ...initialAgentState().config, graph: { states: [], rows: {}, terminals: ["X"] } },
      },
      "not-a-state",
      "config.graph",
    ],
  ])("refuses %s", (_, value, code, path) => {
    const parsed = parseState(value);
    expect(parsed.ok ? undefined : { code: parsed.problem.code, path: parsed.problem.path }).toEqual({
      code,
      path,
    });
  });
});
