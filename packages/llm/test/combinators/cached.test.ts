import { cached, LlmOptionError, memoryLlmCache, noUsage, requestDigest, type LlmCache } from "@moora/llm";
import { answers, fails, hangs, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { requestOf } from "../fixtures.ts";

const spent = { ...noUsage, inputTokens: 9 };

/** A model whose answers wait for `release`. */
function waitingModel(...steps: readonly MockStep[]) {
  const gate = Promise.withResolvers<void>();
  const model = new MockLlmCaller(async (_, call) => {
    await gate.promise;
    return steps[call] ?? fails("server");
  });
  return { model, release: () => gate.resolve() };
}

describe("cached", () => {
  it("answers an equal request from the cache: streamed, without tokens, and with the reason", async () => {
    const model = new MockLlmCaller([answers("Hello to you", { usage: spent })]);
    const caller = cached(model);
    expect(await caller.call(requestOf())).toMatchObject({ usage: spent, answeredBy: { reasons: [] } });
    const pieces: string[] = [];
    const again = await caller.call(structuredClone(requestOf()), {
      onChunk: (chunk) => chunk.type === "text" && pieces.push(chunk.text),
    });
    expect(again).toMatchObject({
      ok: true,
      usage: noUsage,
      answeredBy: { caller: "mock", reasons: ["cache"] },
    });
    expect(pieces).toEqual(["Hello ", "to ", "you"]);
    expect(model.callCount).toBe(1);
  });

  it("answers with the files that the model made", async () => {
    const files = [{ mediaType: "image/png", data: "iVBORw0KGgo=" }];
    const model = new MockLlmCaller([answers("Here it is.", { files })]);
    const caller = cached(model);
    const { turn } = { turn: undefined, ...(await caller.call(requestOf())) };
    expect(await caller.call(requestOf())).toMatchObject({ ok: true, turn });
    expect(model.callCount).toBe(1);
  });

  it("uses no tokens for an answer whose usage was not reported", async () => {
    const caller = cached(new MockLlmCaller(() => ({ ...answers("x"), usageMissing: true })));
    expect(await caller.call(requestOf())).toMatchObject({ usageMissing: true });
    expect(await caller.call(requestOf())).not.toHaveProperty("usageMissing");
  });

  it("sends a request that differs in any field, and one to another model", async () => {
    const model = new MockLlmCaller(() => answers("x"));
    const caller = cached(model);
    for (const change of [{}, { system: "Else." }, { settings: { seed: 1 } }, { model: "other" }])
      await caller.call(requestOf(change));
    expect(model.callCount).toBe(4);
  });

  it("stores no failure", async () => {
    const model = new MockLlmCaller([fails("server"), answers("x")]);
    const caller = cached(model);
    expect((await caller.call(requestOf())).ok).toBe(false);
    expect((await caller.call(requestOf())).ok).toBe(true);
    expect(model.callCount).toBe(2);
  });

  it("sends equal requests that arrive together once", async () => {
    const { model, release } = waitingModel(answers("x", { usage: spent }));
    const caller = cached(model);
    const calls = Promise.all([1, 2, 3].map(() => caller.call(requestOf())));
    release();
    // The digests of the requests are computed in threads, so that any of them may be the first.
    const usages = (await calls).map(({ usage }) => usage);
    expect(usages.filter((usage) => usage?.inputTokens !== 0)).toEqual([spent]);
    expect(model.callCount).toBe(1);
  });

  it("sends the next of the requests that wait where the first one fails", async () => {
    const { model, release } = waitingModel(fails("server"), answers("x"));
    const caller = cached(model);
    const calls = Promise.all([1, 2, 3].map(() => caller.call(requestOf())));
    release();
    expect((await calls).filter(({ ok }) => !ok)).toHaveLength(1);
    expect(model.callCount).toBe(2);
  });

  it("ends a call that waits when it is aborted, and no other", async () => {
    const { model, release } = waitingModel(answers("x"));
    const caller = cached(model);
    const first = caller.call(requestOf());
    const abort = new AbortController();
    const second = caller.call(requestOf(), { signal: abort.signal });
    abort.abort();
    expect(await second).toMatchObject({ failure: { kind: "aborted" } });
    release();
    expect((await first).ok).toBe(true);
  });

  it("aborts its own call without storing anything", async () => {
    const model = new MockLlmCaller([hangs("Hel"), answers("x")]);
    const caller = cached(model);
    const abort = new AbortController();
    const outcome = await caller.call(requestOf(), {
      signal: abort.signal,
      onChunk: () => queueMicrotask(() => abort.abort()),
    });
    expect(outcome).toMatchObject({ failure: { kind: "aborted" }, partial: "Hel" });
    expect((await caller.call(requestOf())).ok).toBe(true);
  });

  it("answers with a warning where the cache fails", async () => {
    const broken: LlmCache = {
      get: () => Promise.reject(new Error("no get")),
      set: () => {
        throw new Error("no set");
      },
    };
    expect(
      await cached(new MockLlmCaller([answers("x")]), { cache: broken }).call(requestOf()),
    ).toMatchObject({
      ok: true,
      warnings: [
        "the cache could not be read: Error: no get",
        "the answer was not stored in the cache: Error: no set",
      ],
    });
  });
});

describe("a cache of one's own", () => {
  const never = new Promise<never>(() => undefined);
  const setup = (cache: Partial<LlmCache>, text = "from the model") => {
    const clock = new TestClock();
    const model = new MockLlmCaller(() => answers(text));
    const whole: LlmCache = { get: () => undefined, set: () => undefined, ...cache };
    return { clock, model, caller: cached(model, { cache: whole, clock, cacheTimeoutMs: 500 }) };
  };

  it("that never answers a read delays the call for cacheTimeoutMs at most", async () => {
    const { clock, caller } = setup({ get: () => never });
    const call = caller.call(requestOf());
    await clock.whenWaiting(1);
    clock.advance(500);
    expect(await call).toMatchObject({ ok: true, warnings: ["the cache was not read within 500 ms"] });
  });

  it("that never ends a write delays the answer for cacheTimeoutMs at most", async () => {
    const writing = Promise.withResolvers<void>();
    const { clock, caller } = setup({
      set: () => {
        writing.resolve();
        return never;
      },
    });
    const call = caller.call(requestOf());
    await writing.promise;
    clock.advance(500);
    expect(await call).toMatchObject({
      ok: true,
      warnings: ["the answer was not stored in the cache within 500 ms"],
    });
  });

  it("does not delay an abort, neither while it reads nor while it writes", async () => {
    const reading = new AbortController();
    const { caller, clock, model } = setup({ get: () => never });
    const read = caller.call(requestOf(), { signal: reading.signal });
    await clock.whenWaiting(1);
    reading.abort();
    expect(await read).toMatchObject({ failure: { kind: "aborted" } });
    expect(model.callCount).toBe(0);

    const writing = new AbortController();
    const set = (): Promise<never> => {
      queueMicrotask(() => writing.abort());
      return never;
    };
    expect(await setup({ set }).caller.call(requestOf(), { signal: writing.signal })).toMatchObject({
      ok: true,
    });
  });

  it("has no answer where it returns null", async () => {
    const outcome = await setup({ get: () => Promise.resolve(null) }).caller.call(requestOf());
    expect(outcome).toMatchObject({ ok: true, turn: { parts: [{ text: "from the model" }] } });
    expect(outcome).not.toHaveProperty("warnings");
  });

  it.each<[string, unknown]>([
    ["an object without fields", {}],
    ["a text", '{"ok":true}'],
    ["a number", 42],
    ["an answer without a turn", { ok: true }],
    [
      "an answer with a part without text",
      {
        ok: true,
        turn: { origin: "o", parts: [{ type: "text" }] },
        model: "m",
        usage: noUsage,
        finish: { unified: "stop", raw: "" },
      },
    ],
    ["a failure", { ok: false, failure: { kind: "server", message: "m", retryable: true }, partial: "" }],
  ])("that returns %s is not used, with a warning", async (_, stored) => {
    const outcome = await setup({ get: () => stored as never }).caller.call(requestOf());
    expect(outcome).toMatchObject({
      ok: true,
      turn: { parts: [{ text: "from the model" }] },
      warnings: ["the cache has an invalid answer, which was not used"],
    });
  });
});

describe("a stored answer", () => {
  it("does not change with an outcome that a caller has changed", async () => {
    const caller = cached(new MockLlmCaller([answers("as it was")]));
    const textOf = async (): Promise<string> => {
      const outcome = await caller.call(requestOf());
      const [part] = outcome.ok ? outcome.turn.parts : [];
      if (part?.type !== "text") throw new Error("There is no text.");
      const { text } = part;
      Object.assign(part, { text: "changed" });
      return text;
    };
    expect([await textOf(), await textOf(), await textOf()]).toEqual(["as it was", "as it was", "as it was"]);
    expect(await Promise.all([textOf(), textOf()])).toEqual(["as it was", "as it was"]);
  });

  it("is not shared by calls that wait for the same answer", async () => {
    const { model, release } = waitingModel(answers("as it was"));
    const caller = cached(model);
    const calls = [1, 2, 3].map(() => caller.call(requestOf()));
    release();
    const outcomes = await Promise.all(calls);
    const parts = outcomes.map((outcome) => (outcome.ok ? outcome.turn.parts[0] : undefined));
    expect(new Set(parts).size).toBe(3);
  });
});

describe("the digest of a request", () => {
  const caller = { name: "a", model: "m" };

  it("does not depend on the order of fields, nor on whether the model is named", async () => {
    const digest = await requestDigest(requestOf({ model: "" }), caller);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    const { purpose, ...rest } = requestOf({ model: "m" });
    expect(await requestDigest({ ...rest, purpose }, caller)).toBe(digest);
    expect(await requestDigest(requestOf({ model: "" }), { name: "b", model: "m" })).not.toBe(digest);
  });
});

describe("a cache in memory", () => {
  it("drops the answer that was not used for the longest time", async () => {
    const model = new MockLlmCaller(() => answers("x"));
    const caller = cached(model, { cache: memoryLlmCache({ maxEntries: 2 }) });
    for (const system of ["a", "b", "a", "c", "a", "b"]) await caller.call(requestOf({ system }));
    expect(model.requests.map(({ system }) => system)).toEqual(["a", "b", "c", "b"]);
  });

  it("refuses a size of zero", () => {
    expect(() => memoryLlmCache({ maxEntries: 0 })).toThrow(LlmOptionError);
  });
});
