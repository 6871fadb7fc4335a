import {
  noUsage,
  type LlmCaller,
  type LlmChunk,
  type LlmOutcome,
  type LlmPart,
  type LlmUsage,
} from "@moora/llm";
import { answers, callsTools, fails, hangs } from "@moora/llm/testing";
import type { AgentConfig } from "@moora/agent-core-state-machine";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it, vi } from "vitest";
import { World } from "../world.ts";

const plan = "plan/1/1/1";

/** A caller written by hand, of which the port's promises need not be true. */
const caller = (call: LlmCaller["call"]): Partial<World["host"]["parts"]> => ({ llm: { name: "own", call } });

const turnOf = (
  parts: readonly LlmPart[],
  more: Partial<Extract<LlmOutcome, { ok: true }>> = {},
): LlmOutcome => ({
  ok: true,
  turn: { origin: "own", parts },
  model: "own",
  usage: noUsage,
  finish: { unified: "stop", raw: "stop" },
  ...more,
});

const untyped = (json: string): never => JSON.parse(json) as never;

describe("a model call", () => {
  it("is recorded before it is made, and not made when its record did not apply", async () => {
    const world = new World({ script: [answers("Hi.")] });
    const running = world.say("q").perform(plan);
    expect(world.inputs.at(-1)).toMatchObject({ type: "llm-call-started", key: plan });
    expect(world.llm.callCount).toBe(0);
    await running;
    expect(world.llm.callCount).toBe(1);

    const again = new World({ script: [answers("Hi.")] }).say("q");
    again.apply({ type: "llm-call-started", key: plan, timestamp: 1 });
    await again.perform(plan);
    expect(again.llm.callCount).toBe(0);
  });

  it("has an idempotency key that its repetition after a crash has, too, and a key for caches (C10)", async () => {
    const world = new World({ script: [hangs("Never"), answers("Hi.")] }).say("q");
    const cancel = new AbortController();
    const running = world.perform(plan, cancel.signal);
    await untilPasses(() => expect(world.llm.callCount).toBe(1));
    cancel.abort();
    await running;
    world.apply({ type: "session-opened", owner: "host", timestamp: 1 });
    await world.perform("plan/1/1/2");
    expect(world.llm.options.map(({ idempotencyKey, cacheKey }) => [idempotencyKey, cacheKey])).toEqual([
      [`session/${plan}`, "session"],
      [`session/${plan}`, "session"],
    ]);
    expect(JSON.stringify(world.llm.requests[1])).toBe(JSON.stringify(world.llm.requests[0]));
  });

  it("has another idempotency key when it is made again after a failure", async () => {
    const world = new World({
      script: [fails("server"), answers("Hi.")],
      config: { retries: { delayMs: 0 } },
    });
    await world.say("q").settle();
    expect(world.llm.options.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
      "session/plan/1/1/1",
      "session/plan/1/1/2",
    ]);
  });

  it("passes on the limits of silence, where the host has any", async () => {
    const limits = { toolTimeoutMs: 1, maxResultLength: 1, llmFirstChunkTimeoutMs: 11, llmIdleTimeoutMs: 12 };
    const world = new World({ script: [answers("Hi.")], host: { limits } });
    await world.say("q").perform(plan);
    expect(world.llm.options[0]).toMatchObject({ firstChunkTimeoutMs: 11, idleTimeoutMs: 12 });
  });

  it("records the warnings of the caller", async () => {
    const world = new World({ script: [answers("Hi.", { warnings: ["no seed here"] })] });
    await world.say("q").perform(plan);
    expect(world.notices).toContainEqual({ type: "LlmWarning", text: "no seed here" });
  });
});

describe("a file that a model makes", () => {
  const file = { mediaType: "image/png", name: "dot.png", data: "AAAA" };
  const attachment = { mediaType: "image/png", name: "dot.png", url: "data:image/png;base64,AAAA" };

  it("is a part of the turn, an attachment of the message, and in the next request", async () => {
    const raw = { id: "ig_1" };
    const world = new World({ script: [turnOf([{ type: "file", file, raw }]), answers("Smaller.")] });
    await world.say("Draw a dot.").perform(plan);
    expect(world.state.reActContext.control).toEqual({ type: "Done", answer: "" });
    expect(world.state.messages.at(-1)).toMatchObject({ content: "", attachments: [attachment] });
    await world.say("Smaller.").perform("plan/2/1/1");
    expect(world.llm.requests.at(-1)?.messages[1]).toEqual({
      role: "assistant",
      turn: { origin: "own", parts: [{ type: "file", file: attachment, raw }] },
      results: [],
    });
  });

  it("is also one where the model gives its URL, beside text and calls", async () => {
    const parts: readonly LlmPart[] = [
      { type: "text", text: "Here." },
      { type: "file", file: { mediaType: "image/png", url: "https://files.test/dot.png" } },
      { type: "tool-call", id: "1", name: "work", arguments: "{}" },
    ];
    const world = new World({ script: [turnOf(parts, { finish: { unified: "tool-calls", raw: "" } })] });
    await world.say("Draw a dot.").perform(plan);
    expect(world.state.messages.at(-1)).toMatchObject({
      content: "Here.",
      attachments: [{ mediaType: "image/png", url: "https://files.test/dot.png" }],
    });
  });

  it("is refused if it has no media type", async () => {
    const world = new World({
      script: [turnOf([untyped('{ "type": "file", "file": { "data": "AAAA" } }')])],
    });
    await world.say("q").perform(plan);
    const message = expect.stringContaining("The media type of a file of the turn is not text.");
    expect(world.inputs.at(-1)).toMatchObject({ type: "llm-call-failed", failure: { message } });
  });
});

describe("what a model streams", () => {
  const streams = async (chunks: readonly LlmChunk[]): Promise<World> => {
    const call: LlmCaller["call"] = async (_, options) => {
      for (const chunk of chunks) options?.onChunk?.(chunk);
      return turnOf([{ type: "text", text: "Hi." }]);
    };
    const world = new World({ parts: caller(call) });
    await world.say("q").perform(plan);
    return world;
  };
  const textsOf = (world: World): readonly unknown[] =>
    world.notices.map((notice) => (notice.type === "LlmToken" ? [notice.text, notice.offset] : notice));

  it("opens its message with the first text, once", async () => {
    const world = await streams([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "" },
      { type: "text", text: "He" },
      { type: "tool-call", name: "work" },
      { type: "text", text: "llo" },
    ]);
    expect(world.inputs.filter(({ type }) => type === "llm-message-started")).toHaveLength(1);
    expect(textsOf(world)).toEqual([
      { type: "LlmReasoning", messageId: "msg_1_1", text: "hm", offset: 0 },
      ["He", 0],
      { type: "LlmToolCall", messageId: "msg_1_1", toolCallId: "call_1", name: "work" },
      ["llo", 2],
    ]);
    expect(world.state.messages.map(({ id, content }) => [id, content])).toEqual([
      ["user-0", "q"],
      ["msg_1_1", "Hi."],
    ]);
  });

  it("joins a pair of surrogates that came in two pieces (J05)", async () => {
    const world = await streams("a😀b".split("").map((text) => ({ type: "text", text })));
    expect(textsOf(world)).toEqual([
      ["a", 0],
      ["😀", 1],
      ["b", 3],
    ]);
  });

  it("replaces halves of surrogate pairs that do not belong together (J05)", async () => {
    const world = await streams(["a\ud83d", "\ud83d", "b"].map((text) => ({ type: "text", text })));
    expect(textsOf(world)).toEqual([
      ["a", 0],
      ["\ufffd", 1],
      ["\ufffdb", 2],
    ]);
  });

  it("begins with the first text that is not blank", async () => {
    const world = await streams([" ", "\n", "a "].map((text) => ({ type: "text", text })));
    expect(textsOf(world)).toEqual([[" \na ", 0]]);
  });

  it("shows each call under the id that it gets, with its arguments and where they begin", async () => {
    const chunks: readonly LlmChunk[] = [
      { type: "reasoning", index: 0, text: "hm" },
      { type: "part-end", index: 0 },
      { type: "tool-call", index: 1, id: "a", name: "work" },
      { type: "tool-call", index: 2, id: "b", name: "work" },
      { type: "tool-call-delta", index: 1, text: '{"a"' },
      { type: "tool-call-delta", index: 2, text: "{}" },
      { type: "tool-call-delta", index: 7, text: "of no call" },
      { type: "part-end", index: 2 },
      { type: "tool-call-delta", index: 1, text: ":1}" },
      { type: "part-end", index: 1 },
    ];
    const call: LlmCaller["call"] = async (_, options) => {
      for (const chunk of chunks) options?.onChunk?.(chunk);
      return turnOf([
        { type: "tool-call", id: "a", name: "work", arguments: '{"a":1}' },
        { type: "tool-call", id: "b", name: "work", arguments: "{}" },
      ]);
    };
    const world = new World({ parts: caller(call) });
    await world.say("q").perform(plan);
    const messageId = "msg_1_1";
    expect(world.notices).toEqual([
      { type: "LlmReasoning", messageId, part: 0, text: "hm", offset: 0 },
      { type: "LlmPartEnded", messageId, part: 0 },
      { type: "LlmToolCall", messageId, toolCallId: "call_1", name: "work" },
      { type: "LlmToolCall", messageId, toolCallId: "call_2", name: "work" },
      { type: "LlmToolCallDelta", messageId, toolCallId: "call_1", text: '{"a"', offset: 0 },
      { type: "LlmToolCallDelta", messageId, toolCallId: "call_2", text: "{}", offset: 0 },
      { type: "LlmPartEnded", messageId, part: 2, toolCallId: "call_2" },
      { type: "LlmToolCallDelta", messageId, toolCallId: "call_1", text: ":1}", offset: 4 },
      { type: "LlmPartEnded", messageId, part: 1, toolCallId: "call_1" },
    ]);
    expect(Object.entries(world.state.toolCalls).map(([id, { parameters }]) => [id, parameters])).toEqual([
      ["call_1", '{"a":1}'],
      ["call_2", "{}"],
    ]);
    expect(JSON.stringify(world.inputs)).not.toContain("offset");
  });

  it("has no id for a call of an internal tool, which the session does not contain", async () => {
    const world = await streams([
      { type: "tool-call", index: 0, name: "load_older_messages" },
      { type: "tool-call-delta", index: 0, text: "{}" },
      { type: "part-end", index: 0 },
      { type: "tool-call", index: 1, name: "work" },
    ]);
    expect(world.notices).toEqual([
      { type: "LlmToolCall", messageId: "msg_1_1", name: "load_older_messages" },
      { type: "LlmPartEnded", messageId: "msg_1_1", part: 0 },
      { type: "LlmToolCall", messageId: "msg_1_1", toolCallId: "call_1", name: "work" },
    ]);
  });

  it("is text alone where nothing observes it, and complete again as soon as something does", async () => {
    let isObserved = false;
    const chunks: readonly LlmChunk[] = [
      { type: "text", index: 0, text: "Hi" },
      { type: "part-end", index: 0 },
      { type: "reasoning", index: 1, text: "hm" },
      { type: "tool-call", index: 2, name: "load_older_messages" },
      { type: "tool-call", index: 3, name: "work" },
      { type: "tool-call-delta", index: 3, text: '{"a"' },
    ];
    const call: LlmCaller["call"] = async (_, options) => {
      for (const chunk of chunks) options?.onChunk?.(chunk);
      isObserved = true;
      options?.onChunk?.({ type: "tool-call-delta", index: 3, text: ":1}" });
      return turnOf([{ type: "text", text: "Hi" }]);
    };
    const world = new World({ parts: caller(call), host: { isObserved: () => isObserved } });
    await world.say("q").perform(plan);
    expect(world.notices).toEqual([
      { type: "LlmToken", messageId: "msg_1_1", part: 0, text: "Hi", offset: 0 },
      { type: "LlmToolCallDelta", messageId: "msg_1_1", toolCallId: "call_1", text: ":1}", offset: 4 },
    ]);
  });

  it("is not passed on once the call is no longer wanted", async () => {
    let stream: ((chunk: LlmChunk) => void) | undefined;
    const call: LlmCaller["call"] = (_, options) => {
      stream = options?.onChunk;
      return new Promise(() => undefined);
    };
    const world = new World({ parts: caller(call) }).say("q");
    const cancel = new AbortController();
    void world.perform(plan, cancel.signal);
    await untilPasses(() => expect(stream).toBeDefined());
    stream?.({ type: "text", text: "early" });
    cancel.abort();
    const { state } = world;
    stream?.({ type: "text", text: "late" });
    stream?.({ type: "reasoning", text: "late" });
    expect(world.notices).toEqual([{ type: "LlmToken", messageId: "msg_1_1", text: "early", offset: 0 }]);
    expect(world.state).toBe(state);
  });
});

describe("a caller that breaks its promises", () => {
  const failureOf = (world: World): unknown => {
    const { control } = world.state.reActContext;
    return control.type === "Error" ? control.failure : control.type;
  };

  it.each<[string, LlmCaller["call"], RegExp]>([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
      /^broken$/,
    ],
    ["rejects", () => Promise.reject(new Error("broken")), /^broken$/],
    ["rejects with a value that is not an error", () => Promise.reject({ code: 5 }), /^\{"code":5\}$/],
  ])("fails the call, and the agent continues: it %s", async (_, call, message) => {
    const world = new World({ parts: caller(call) });
    await world.say("q").settle();
    expect(failureOf(world)).toMatchObject({ kind: "unknown", message: expect.stringMatching(message) });
    world.say("again");
    expect(world.keys).toEqual(["plan/2/1/1"]);
  });

  it.each(["null", "7", '{"ok":false}'])("that returns %s fails the call, and is named", async (json) => {
    const world = new World({ parts: caller(async () => untyped(json)) });
    await world.say("q").settle();
    expect(failureOf(world)).toMatchObject({
      kind: "malformed",
      message: expect.stringMatching(/caller own must return an LlmOutcome/),
    });
  });

  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const deep = JSON.parse(`${"[".repeat(500)}${"]".repeat(500)}`);
  it.each<[string, LlmOutcome]>([
    ["a part of no known type", turnOf(untyped('[{"type":"song"}]'))],
    ["a text that is not a string", turnOf(untyped('[{"type":"text","text":7}]'))],
    ["a call without a name", turnOf(untyped('[{"type":"tool-call","id":"1","arguments":"{}"}]'))],
    [
      "arguments that are not text",
      turnOf(untyped('[{"type":"tool-call","id":"1","name":"a","arguments":{}}]')),
    ],
    [
      "raw JSON with a key that is a trap",
      turnOf(untyped('[{"type":"opaque","raw":{"__proto__":{"x":1}}}]')),
    ],
    ["raw JSON in a circle", turnOf([{ type: "opaque", raw: circle as never }])],
    [
      "raw JSON in a circle that has half a character",
      turnOf([{ type: "opaque", raw: ["\ud800", circle] as never }]),
    ],
    ["raw JSON that is too deep", turnOf([{ type: "reasoning", text: "", raw: deep }])],
    ["what no JSON keeps", turnOf([{ type: "text", text: "x", raw: { n: Number.NaN } }])],
    ["a turn beyond all size", turnOf([{ type: "text", text: "x".repeat(17_000_000) }])],
  ])("is asked again, for a log could not keep %s", async (_, outcome) => {
    const calls = vi.fn<LlmCaller["call"]>(async () => outcome);
    const world = new World({ parts: caller(calls), config: { retries: { delayMs: 0, maxLlmAttempts: 2 } } });
    await world.say("q").settle();
    expect(calls).toHaveBeenCalledTimes(2);
    expect(failureOf(world)).toMatchObject({ kind: "malformed" });
  });

  it("is read as far as it makes sense", async () => {
    const outcome = turnOf([{ type: "text", text: "a\ud800", raw: { t: "\udc00" } }], {
      usage: { ...noUsage, cachedInputTokens: Number.NaN, reasoningTokens: -3 },
      confidence: Number.NaN,
      finish: untyped('{"unified":"weird","raw":"weird"}'),
    });
    const world = new World({ parts: caller(async () => outcome) });
    await world.say("q").settle();
    expect(world.inputs.at(-1)).toMatchObject({
      turn: { parts: [{ type: "text", text: "a\ufffd", raw: { t: "\ufffd" } }] },
      usage: {},
      finish: { unified: "other", raw: "weird" },
    });
    expect(world.state.usage).toMatchObject(noUsage);
    expect(world.inputs.at(-1)).not.toHaveProperty("confidence");
    expect(JSON.parse(JSON.stringify(world.state))).toEqual(world.state);
  });

  it.each<[string, readonly string[], unknown]>([
    ["without counts", ["inputTokens", "outputTokens"], {}],
    ["of null", ["inputTokens", "outputTokens"], { inputTokens: null, outputTokens: null }],
    ["of NaN", ["inputTokens", "outputTokens"], { inputTokens: Number.NaN, outputTokens: Number.NaN }],
    ["of texts", ["inputTokens", "outputTokens"], { inputTokens: "7", outputTokens: "7" }],
    ["of negative counts", ["inputTokens", "outputTokens"], { inputTokens: -7, outputTokens: -1_000 }],
    ["without its input", ["inputTokens"], { outputTokens: 7 }],
    ["with an infinite output", ["outputTokens"], { inputTokens: 7, outputTokens: Number.POSITIVE_INFINITY }],
  ])("reports a usage %s: %j are estimated, with a warning", async (_, estimated, usage) => {
    const world = new World({
      parts: caller(async () =>
        turnOf([{ type: "text", text: "a ".repeat(100) }], { usage: usage as never }),
      ),
    });
    await world.say("q ".repeat(100)).settle();
    const { usage: counted } = world.state;
    expect(counted.inputTokens > 7).toBe(estimated.includes("inputTokens"));
    expect(counted.outputTokens > 7).toBe(estimated.includes("outputTokens"));
    expect(world.inputs.at(-1)).toMatchObject({ usage: { estimated: true } });
    expect(world.notices).toContainEqual({
      type: "LlmWarning",
      text: expect.stringMatching(/^The provider did not report its usage\. About \d+ tokens/),
    });
  });

  it("reports a usage of zero, which counts as it is", async () => {
    const world = new World({ parts: caller(async () => turnOf([{ type: "text", text: "a" }])) });
    await world.say("q").settle();
    expect(world.inputs.at(-1)).toMatchObject({ usage: {} });
    expect(world.inputs.at(-1)).not.toHaveProperty("usage.estimated");
    expect(world.state.usage).toMatchObject(noUsage);
  });

  it.each([Number.NaN, -5])("is not waited for when it says to wait %s ms", async (retryAfterMs) => {
    const world = new World({ script: [fails("rate-limit", { retryAfterMs })] });
    await world.say("q").perform(plan);
    expect(world.inputs.at(-1)).toMatchObject({ type: "llm-call-failed", failure: { kind: "rate-limit" } });
    expect(world.inputs.at(-1)).not.toHaveProperty("failure.retryAfterMs");
  });
});

describe("a reflection", () => {
  it("becomes a summary, and streams nothing", async () => {
    const world = new World({
      script: [callsTools([{ name: "none" }]), answers("All is known."), answers("Done.")],
      config: { reflection: { everyNSteps: 1 } },
    });
    await world.say("q").settle();
    expect(world.llm.requests[1]?.purpose).toBe("reflect");
    expect(world.llm.options[1]).not.toHaveProperty("onChunk");
    expect(world.state.transcript).toContainEqual(
      expect.objectContaining({ type: "summary", text: "All is known." }),
    );
  });

  it("that fails, or throws, keeps everything", async () => {
    const broken = (): never => {
      throw new Error("The model is gone.");
    };
    for (const reflect of [() => fails("server"), broken]) {
      const world = new World({
        script: (_, call) =>
          call === 1 ? reflect() : call === 0 ? callsTools([{ name: "none" }]) : answers("Done."),
        config: { reflection: { everyNSteps: 1 } },
      });
      await world.say("q").settle();
      expect(world.state.transcript.some(({ type }) => type === "summary")).toBe(false);
      expect(world.state.reActContext.control.type).toBe("Done");
    }
  });
});

describe("what a call cost", () => {
  const costAt = async (prices: AgentConfig["prices"], budget: AgentConfig["budget"] = {}) => {
    const world = new World({
      script: [answers("Hi.", { model: "big-2026", usage: { inputTokens: 3 } })],
      config: { models: { default: "big" }, prices, budget },
    });
    await world.say("q").settle();
    return world;
  };

  it("is the price of the model that answered, else of the one that it is a version of, else the default", async () => {
    const answered = { "big-2026": { input: 2e6, output: 0 }, big: { input: 1e6, output: 0 } };
    expect((await costAt(answered)).state.usage).toMatchObject({ inputTokens: 3, cost: 6 });
    expect((await costAt({ big: answered.big, default: { input: 0, output: 0 } })).state.usage.cost).toBe(3);
    expect((await costAt({ default: { input: 4e6, output: 0 } })).state.usage.cost).toBe(12);
  });

  const costOf = async (model: string, prices: AgentConfig["prices"], usage: Partial<LlmUsage>) => {
    const config = { models: { default: "small" }, prices };
    const world = new World({ script: [answers("Hi.", { model, usage })], config });
    await world.say("q").settle();
    return world.state.usage.cost;
  };

  it.each([
    ["small", "small-2025-08-07"],
    ["small", "small-0613"],
    ["small", "small-08-2024"],
    ["small", "models/small"],
    ["vendor/small", "small@20250929"],
    ["vendor/small", "vendor/small:free"],
    ["vendor.small", "vendor.small-20250929-v1:0"],
    ["small-latest", "small-2411"],
  ])("of %s is also that of its version %s", async (name, model) => {
    const prices = { [name]: { input: 1e6, output: 0 }, default: { input: 9e6, output: 0 } };
    expect(await costOf(model, prices, { inputTokens: 3 })).toBe(3);
  });

  it.each([
    ["small", "large"],
    ["small", "small-pro"],
    ["small", "small-4"],
    ["small", "small-405b"],
    ["small", "smaller"],
    ["small-mini", "small"],
    ["vendor/small", "other/small"],
    ["", "large"],
    ["-latest", "large"],
  ])("of %s is not that of another model, %s: the default price counts", async (name, model) => {
    const prices = { [name]: { input: 1e6, output: 0 }, default: { input: 9e6, output: 0 } };
    expect(await costOf(model, prices, { inputTokens: 3 })).toBe(27);
  });

  it("is that of the requested model where an answer names none", async () => {
    expect(await costOf("", { small: { input: 1e6, output: 0 } }, { inputTokens: 3 })).toBe(3);
  });

  it("fails the loop after an answer of another model than the one with a price, where a cost limit depends on it", async () => {
    const prices = { small: { input: 1, output: 1 } };
    const world = new World({
      script: [answers("Hi.", { model: "large", usage: { inputTokens: 3 } })],
      config: { models: { default: "small" }, prices, budget: { maxCost: 5 } },
    });
    await world.say("q").settle();
    expect(world.state.reActContext.control).toMatchObject({
      failure: { kind: "NoPrice", message: expect.stringContaining('"large"') },
    });
  });

  it("has the output also where a server counts cached tokens beside the input", async () => {
    const prices = { default: { input: 1e6, output: 1e6, cachedInput: 1e5 } };
    const usage = { inputTokens: 1_000, cachedInputTokens: 2_000, outputTokens: 100 };
    expect(await costOf("small", prices, usage)).toBe(300);
  });

  it("is nothing without a price, where no limit depends on it", async () => {
    expect((await costAt({ other: { input: 1, output: 1 } })).state.usage.cost).toBe(0);
  });

  it("fails the loop before the call where a cost limit depends on it and the model has no price", async () => {
    const world = await costAt({ other: { input: 1, output: 1 } }, { maxCost: 5 });
    expect(world.llm.requests).toEqual([]);
    expect(world.state.reActContext.control).toMatchObject({
      type: "Error",
      failure: { kind: "NoPrice", message: expect.stringContaining('"big"') },
    });
  });

  it("fails the loop after the call where a cost limit depends on it and the model has no name", async () => {
    const world = new World({
      script: [answers("Hi.", { model: "", usage: { inputTokens: 3 } })],
      config: { prices: { other: { input: 1, output: 1 } }, budget: { maxCost: 5 } },
    });
    await world.say("q").settle();
    expect(world.state.reActContext.control).toMatchObject({
      failure: { kind: "NoPrice", message: expect.stringContaining("but the model has no price") },
    });
  });
});
