import { describe, expect, it } from "vitest";
import { LlmOptionError, type LlmChunk, type LlmOutcome } from "@moora/llm";
import { answers, callsTools, fails, hangs, MockLlmCaller } from "@moora/llm/testing";
import { requestOf } from "./fixtures.ts";

const request = requestOf();

/** A value as tests without types give it. */
const untyped = (value: unknown) => JSON.parse(JSON.stringify(value ?? null)) ?? undefined;

describe("a scripted model", () => {
  it("uses one step for each call, and fails without a step left", async () => {
    const llm = new MockLlmCaller([answers("one"), callsTools([{ name: "add", arguments: { a: 1 } }])]);
    expect(await llm.call(request)).toMatchObject({
      ok: true,
      turn: { parts: [{ type: "text", text: "one" }] },
      finish: { unified: "stop" },
    });
    expect(await llm.call(request)).toMatchObject({
      ok: true,
      turn: { parts: [{ type: "tool-call", id: "call_1", name: "add", arguments: '{"a":1}' }] },
      finish: { unified: "tool-calls" },
    });
    expect(await llm.call(request)).toMatchObject({
      ok: false,
      failure: {
        kind: "invalid-request",
        retryable: false,
        message: "MockLlmCaller: call 3 has no step, the script has 2. Add a step.",
      },
    });
  });

  it.each<[string, unknown, string]>([
    ["a text as a step", ["hello"], 'step 1 must be an outcome, got "hello". Use answers("...")'],
    [
      "an object as the second step",
      [answers("a"), { text: "b" }],
      "step 2 must be an outcome, got an object.",
    ],
    ["a text as the script", "hello", 'needs a list of steps or a function, got "hello".'],
    ["no script", undefined, "needs a list of steps or a function, got undefined."],
  ])("refuses %s where it is given", (_, script, message) => {
    const create = () => new MockLlmCaller(untyped(script));
    expect(create).toThrow(LlmOptionError);
    expect(create).toThrow(message);
  });

  it("refuses an option that it does not know", () => {
    expect(() => new MockLlmCaller([], untyped({ modle: "a" }))).toThrow(
      new LlmOptionError('Unknown option "modle" of MockLlmCaller. Did you mean "model"?'),
    );
  });

  it.each([["hello"], [7]])("fails with a sentence if its function returns %j", async (step) => {
    const message = `MockLlmCaller: the script must return an outcome, got ${JSON.stringify(step)}.`;
    const failed = { failure: { kind: "invalid-request", message: expect.stringContaining(message) } };
    expect(await new MockLlmCaller(() => untyped(step)).call(request)).toMatchObject(failed);
    expect(await new MockLlmCaller(async () => untyped(step)).call(request)).toMatchObject(failed);
    expect(new MockLlmCaller(() => untyped(step)).callSync(request)).toMatchObject(failed);
  });

  it("does not observe time limits: a call that hangs ends when it is aborted", async () => {
    const abort = new AbortController();
    const limits = { firstChunkTimeoutMs: 0, idleTimeoutMs: 0 };
    let outcome: LlmOutcome | undefined;
    const call = new MockLlmCaller([hangs()]).call(request, { ...limits, signal: abort.signal });
    void call.then((end) => (outcome = end));
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
    expect(outcome).toBeUndefined();
    abort.abort();
    expect(await call).toMatchObject({ failure: { kind: "aborted" } });
    expect(await new MockLlmCaller([fails("timeout")]).call(request, limits)).toMatchObject({
      failure: { kind: "timeout", retryable: true },
    });
  });

  it("answers as its own model if the request has none", async () => {
    const llm = new MockLlmCaller(() => answers("ok"), { model: "big" });
    expect([llm.model, new MockLlmCaller([]).model]).toEqual(["big", undefined]);
    expect(await llm.call(requestOf({ model: "" }))).toMatchObject({ model: "big" });
    expect(llm.callSync(requestOf({ model: "small" }))).toMatchObject({ model: "small" });
  });

  it("reports the usage of its step when it is aborted", async () => {
    const usage = { inputTokens: 1_000 };
    const llm = new MockLlmCaller([answers("one two three", { usage }), hangs("one ", { usage })]);
    for (const _ of ["an answer", "one that hangs"]) {
      const abort = new AbortController();
      const outcome = await llm.call(request, { signal: abort.signal, onChunk: () => abort.abort() });
      expect(outcome).toMatchObject({ failure: { kind: "aborted" }, partial: "one ", usage });
    }
  });

  it("records requests, options and models", async () => {
    const llm = new MockLlmCaller(() => answers("ok"));
    await llm.call(requestOf({ model: "small" }), { idempotencyKey: "k" });
    llm.callSync(requestOf({ model: "large" }));
    expect(llm.callCount).toBe(2);
    expect([0, 1, 2].map((call) => llm.modelForCall(call))).toEqual(["small", "large", undefined]);
    expect(llm.requests[1]).toEqual(requestOf({ model: "large" }));
    expect(llm.options[0]).toEqual({ idempotencyKey: "k" });
  });

  it("may be a function of the request that returns a promise", async () => {
    const llm = new MockLlmCaller(async ({ model }, call) => answers(`${model} ${call}`));
    expect(await llm.call(request)).toMatchObject({ turn: { parts: [{ text: "some-model 0" }] } });
    expect(llm.callSync(request)).toMatchObject({ ok: false, failure: { kind: "invalid-request" } });
  });

  it("never rejects, even if its script throws", async () => {
    const llm = new MockLlmCaller(() => {
      throw new Error("no");
    });
    const threw = { ok: false, failure: { kind: "unknown", message: "The script threw: Error: no" } };
    expect(await llm.call(request)).toMatchObject(threw);
    expect(llm.callSync(request)).toMatchObject(threw);
  });

  it("answers with the requested model, or with the one of its script", () => {
    const llm = new MockLlmCaller([answers("a"), answers("b", { model: "snapshot" })]);
    expect([llm.callSync(request), llm.callSync(request)]).toMatchObject([
      { model: "some-model" },
      { model: "snapshot" },
    ]);
  });

  it("streams reasoning, text and calls, each part with its number", async () => {
    const chunks: LlmChunk[] = [];
    const llm = new MockLlmCaller([
      callsTools([{ name: "add", arguments: { a: 1, b: 2 } }], { text: "Let me", reasoning: "I must" }),
    ]);
    await llm.call(request, { onChunk: (chunk) => chunks.push(chunk) });
    expect(chunks).toEqual([
      { type: "reasoning", index: 0, text: "I " },
      { type: "reasoning", index: 0, text: "must" },
      { type: "part-end", index: 0 },
      { type: "text", index: 1, text: "Let " },
      { type: "text", index: 1, text: "me" },
      { type: "part-end", index: 1 },
      { type: "tool-call", index: 2, id: "call_1", name: "add" },
      { type: "tool-call-delta", index: 2, text: '{"a":1,"' },
      { type: "tool-call-delta", index: 2, text: 'b":2}' },
      { type: "part-end", index: 2 },
    ]);
  });

  it("streams arguments of any length in at most 16 pieces", async () => {
    const pieces: string[] = [];
    const text = "x".repeat(100_001);
    const llm = new MockLlmCaller([callsTools([{ name: "write", arguments: { text } }])]);
    await llm.call(request, {
      onChunk: (chunk) => chunk.type === "tool-call-delta" && pieces.push(chunk.text),
    });
    expect(pieces).toHaveLength(16);
    expect(pieces.join("")).toBe(JSON.stringify({ text }));
  });

  it("stops between two words when it is aborted, and returns the text so far", async () => {
    const abort = new AbortController();
    const llm = new MockLlmCaller([answers("one two three")]);
    const outcome = await llm.call(request, {
      signal: abort.signal,
      onChunk: (chunk) => {
        if (chunk.type === "text" && chunk.text === "two ") abort.abort();
      },
    });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "aborted" }, partial: "one two " });
  });

  it("streams the partial text of a failure", async () => {
    const heard: string[] = [];
    const llm = new MockLlmCaller([fails("interrupted", { partial: "half an", retryAfterMs: 5 })]);
    const outcome = await llm.call(request, {
      onChunk: (chunk) => chunk.type === "text" && heard.push(chunk.text),
    });
    expect(heard.join("")).toBe("half an");
    expect(outcome).toMatchObject({
      partial: "half an",
      failure: { kind: "interrupted", retryable: true, retryAfterMs: 5 },
    });
  });

  it("waits until it is aborted", async () => {
    const abort = new AbortController();
    const llm = new MockLlmCaller([hangs("thinking"), hangs()]);
    let outcome: LlmOutcome | undefined;
    const call = llm.call(request, { signal: abort.signal }).then((end) => (outcome = end));
    for (let i = 0; i < 20; i += 1) await Promise.resolve();
    expect(outcome).toBeUndefined();
    abort.abort();
    expect(await call).toMatchObject({ failure: { kind: "aborted" }, partial: "thinking" });
    expect(await llm.call(request, { signal: abort.signal })).toMatchObject({ failure: { kind: "aborted" } });
  });
});

describe("the files of a scripted model", () => {
  it("are parts of its turn, after its text", async () => {
    const file = { mediaType: "image/png", data: "aGk=" };
    const llm = new MockLlmCaller([answers("A picture.", { files: [file] })]);
    const outcome = await llm.call(request);
    expect(outcome.ok && outcome.turn.parts).toEqual([
      { type: "text", text: "A picture." },
      { type: "file", file },
    ]);
  });
});

describe("the calls of a scripted model", () => {
  const given = (value: unknown) => () => callsTools(untyped(value));

  it.each([
    ["a name", "add", 'got "add".'],
    ["one call", { name: "add" }, "got an object."],
    ["a list of names", ["add"], 'call 1 has no name, got "add".'],
    ["a call without a name", [{ name: "add" }, { tool: "add" }], "call 2 has no name, got an object."],
  ])("are refused with the expected shape if they are %s", (_, calls, problem) => {
    expect(given(calls)).toThrow(LlmOptionError);
    expect(given(calls)).toThrow('callsTools needs a list of calls, such as callsTools([{ name: "search"');
    expect(given(calls)).toThrow(problem);
  });
});
