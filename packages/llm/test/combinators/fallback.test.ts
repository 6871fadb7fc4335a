import { fallback, LlmOptionError, type LlmCaller, type LlmOutcome, type LlmUsage } from "@moora/llm";
import { answers, fails, hangs, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { requestOf } from "../fixtures.ts";

const usage = (inputTokens: number): LlmUsage => ({
  inputTokens,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
});

/** A scripted model with a name. */
const named = (name: string, ...steps: readonly MockStep[]): MockLlmCaller & { readonly name: string } =>
  Object.assign(new MockLlmCaller(steps), { name });

/** A failure after this text was streamed. */
const broken = (partial: string, more: object = {}): LlmOutcome => ({
  ok: false,
  failure: { kind: "interrupted", message: "The stream broke.", retryable: true, ...more },
  partial,
});

const failureOf = (outcome: LlmOutcome): unknown => (outcome.ok ? outcome : outcome.failure);

/** Calls with a listener, and collects the text that it receives. */
async function streamed(caller: LlmCaller, system: string = ""): Promise<[LlmOutcome, string]> {
  let text = "";
  const outcome = await caller.call(requestOf({ system }), {
    onChunk: (chunk) => void (text += chunk.type === "text" ? chunk.text : ""),
  });
  return [outcome, text];
}

describe("fallback", () => {
  it("answers with the first caller, and calls no other", async () => {
    const second = named("b", answers("from b"));
    const outcome = await fallback([named("a", answers("from a")), second]).call(requestOf());
    expect(outcome).toMatchObject({
      ok: true,
      turn: { parts: [{ text: "from a" }] },
      answeredBy: { caller: "a", model: "some-model", reasons: [] },
    });
    expect(second.callCount).toBe(0);
  });

  it.each(["server", "overloaded", "timeout", "auth", "billing", "context-length"] as const)(
    "continues with the next caller after %s, and says why",
    async (kind) => {
      const caller = fallback([named("a", fails(kind)), named("b", answers("from b"))]);
      expect(await caller.call(requestOf())).toMatchObject({
        ok: true,
        answeredBy: { caller: "b", reasons: [`fallback: a failed: ${kind}`] },
      });
    },
  );

  it.each(["invalid-request", "refusal", "content-filter"] as const)(
    "ends after %s, which another model does not change",
    async (kind) => {
      const second = named("b", answers("from b"));
      const outcome = await fallback([named("a", fails(kind)), second]).call(requestOf());
      expect(failureOf(outcome)).toMatchObject({ kind });
      expect(second.callCount).toBe(0);
    },
  );

  it("asks the application after which failures to continue, except after an abort", async () => {
    const options = { when: () => true };
    const outcome = await fallback([named("a", fails("refusal")), named("b", answers("b"))], options).call(
      requestOf(),
    );
    expect(outcome.ok).toBe(true);

    const abort = new AbortController();
    const second = named("b", answers("from b"));
    const call = fallback([named("a", hangs("")), second], options).call(requestOf(), {
      signal: abort.signal,
    });
    abort.abort();
    expect(failureOf(await call)).toMatchObject({ kind: "aborted" });
    expect(second.callCount).toBe(0);
  });

  it("fails with the last failure, which names those before it and is retryable if one of them is", async () => {
    const caller = fallback([named("a", fails("server")), named("b", fails("auth"))]);
    expect(failureOf(await caller.call(requestOf()))).toMatchObject({
      kind: "auth",
      message: expect.stringContaining("(before: a failed: server)"),
      retryable: true,
    });
  });

  it("counts the tokens of callers that failed", async () => {
    const first = { ...broken(""), usage: usage(5) } as LlmOutcome;
    const caller = fallback([named("a", first), named("b", answers("b", { usage: usage(2) }))]);
    expect((await caller.call(requestOf())).usage).toEqual(usage(7));
  });

  it("sends the model of a request to the first caller only, where the others have their own", async () => {
    const first = named("a", fails("server"));
    const second = Object.assign(named("b", fails("server")), { model: "own" });
    const third = named("c", answers("c"));
    await fallback([first, second, third]).call(requestOf({ model: "asked" }));
    expect([first, second, third].map((caller) => caller.modelForCall(0))).toEqual(["asked", "", "asked"]);
  });

  it("throws without a caller", () => {
    expect(() => fallback([])).toThrow(LlmOptionError);
  });

  it("answers synchronously where all callers do", () => {
    const caller = fallback([named("a", fails("server")), named("b", answers("from b"))]);
    expect(caller.callSync?.(requestOf())).toMatchObject({ ok: true, answeredBy: { caller: "b" } });
    const asynchronous = { name: "c", call: async () => answers("c") };
    expect(fallback([named("a"), asynchronous]).callSync).toBeUndefined();
  });
});

describe("the failure of all callers", () => {
  it.each([
    ["the shortest wait of those that may answer later", fails("rate-limit", { retryAfterMs: 9_000 }), 5_000],
    ["no wait, if one of them asks for none", fails("server"), undefined],
    ["the wait of the others, if one cannot answer later", fails("auth", { retryAfterMs: 1 }), 5_000],
  ])("has %s", async (_, first, wait) => {
    const caller = fallback([named("a", first), named("b", fails("rate-limit", { retryAfterMs: 5_000 }))]);
    const outcome = await caller.call(requestOf());
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "rate-limit", retryable: true } });
    expect(outcome.ok ? undefined : outcome.failure.retryAfterMs).toBe(wait);
  });
});

describe("a caller that fails after it has streamed", () => {
  it("ends the call, so that no listener gets two answers, and the next attempt begins after it", async () => {
    const first = named("a", broken("Hello fr", { retryAfterMs: 9 }), answers("from a, later"));
    const caller = fallback([first, named("b", answers("from b"))]);
    const [outcome, text] = await streamed(caller);
    expect(text).toBe("Hello fr");
    expect(outcome).toMatchObject({ ok: false, partial: "Hello fr", failure: { retryable: true } });
    expect(failureOf(outcome)).not.toHaveProperty("retryAfterMs");

    const [again, next] = await streamed(caller);
    expect([again.ok, next]).toEqual([true, "from b"]);
    const [, other] = await streamed(caller, "Else.");
    expect(other).toBe("from a, later");
  });

  it("is retryable for the next caller, whatever its own failure", async () => {
    const caller = fallback([
      named("a", broken("Hel", { kind: "billing", retryable: false })),
      named("b", answers("from b")),
    ]);
    expect(failureOf((await streamed(caller))[0])).toMatchObject({
      kind: "billing",
      retryable: true,
    });
  });

  it("is followed by the next caller in the same call where no one listens", async () => {
    const caller = fallback([named("a", broken("Hello fr")), named("b", answers("from b"))]);
    expect(await caller.call(requestOf())).toMatchObject({
      ok: true,
      answeredBy: { caller: "b" },
    });
  });
});

describe("a chunk that a caller emits after its failure", () => {
  it("is dropped, and the answer of the next caller stays whole", async () => {
    let late: () => void = () => undefined;
    const first: LlmCaller = {
      name: "first",
      call(request, options) {
        late = () => options?.onChunk?.({ type: "text", text: "too late " });
        return new MockLlmCaller([fails("overloaded")]).call(request);
      },
    };
    const second: LlmCaller = {
      name: "second",
      async call(request, options) {
        late();
        const outcome = await new MockLlmCaller([answers("from b")]).call(request, options);
        late();
        return outcome;
      },
    };
    const chunks: string[] = [];
    const outcome = await fallback([first, second]).call(requestOf(), {
      onChunk: (chunk) => chunk.type === "text" && chunks.push(chunk.text),
    });
    late();
    expect(outcome).toMatchObject({ ok: true, turn: { parts: [{ text: "from b" }] } });
    expect(chunks.join("")).toBe("from b");
  });
});
