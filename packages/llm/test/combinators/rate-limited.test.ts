import {
  LlmOptionError,
  noUsage,
  rateLimited,
  type LlmAnswer,
  type LlmOutcome,
  type RateLimits,
} from "@moora/llm";
import { answers, fails, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { requestOf } from "../fixtures.ts";

/** Microtasks only: the clock is moved by hand. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
};

function setup(limits: RateLimits, step: (call: number) => MockStep = () => answers("x")) {
  const clock = new TestClock();
  const model = new MockLlmCaller((_, call) => step(call));
  const caller = rateLimited(model, { clock, ...limits });
  const advance = async (ms: number): Promise<number> => {
    clock.advance(ms);
    await settle();
    return model.callCount;
  };
  return { clock, model, caller, advance };
}

const using = (inputTokens: number): MockStep => answers("x", { usage: { ...noUsage, inputTokens } });

describe("requests per minute", () => {
  it("may all start at once, and then one by one", async () => {
    const { caller, advance } = setup({ requestsPerMinute: 2 });
    const calls = Promise.all([1, 2, 3, 4].map(() => caller.call(requestOf())));
    expect(await advance(0)).toBe(2);
    expect(await advance(29_999)).toBe(2);
    expect(await advance(1)).toBe(3);
    expect(await advance(30_000)).toBe(4);
    expect((await calls).every(({ ok }) => ok)).toBe(true);
  });

  it("are not more after a long pause", async () => {
    const { caller, advance } = setup({ requestsPerMinute: 2 });
    await advance(3_600_000);
    void Promise.all([1, 2, 3, 4].map(() => caller.call(requestOf())));
    expect(await advance(0)).toBe(2);
  });

  it("start in the order in which they arrive", async () => {
    const { caller, model, advance } = setup({ requestsPerMinute: 1 });
    void Promise.all(["a", "b", "c"].map((system) => caller.call(requestOf({ system }))));
    await advance(60_000);
    await advance(60_000);
    expect(model.requests.map(({ system }) => system)).toEqual(["a", "b", "c"]);
  });
});

describe("a call that is aborted while it waits", () => {
  it("is not sent, and takes nothing from those that follow", async () => {
    const { caller, clock, model, advance } = setup({ requestsPerMinute: 1 });
    const abort = new AbortController();
    void caller.call(requestOf({ system: "a" }));
    const waiting = caller.call(requestOf({ system: "b" }), { signal: abort.signal });
    void caller.call(requestOf({ system: "c" }));
    await advance(0);
    abort.abort();
    expect(await waiting).toMatchObject({ failure: { kind: "aborted" } });
    expect(await advance(60_000)).toBe(2);
    expect(model.requests.map(({ system }) => system)).toEqual(["a", "c"]);
    expect(clock.waiting).toBe(0);
  });

  it("lets a smaller one behind it start at once", async () => {
    const estimateTokens: RateLimits["estimateTokens"] = ({ system }) => Number(system);
    const { caller, advance } = setup({ tokensPerMinute: 100, estimateTokens }, () => ({ hangsAfter: "" }));
    const abort = new AbortController();
    void caller.call(requestOf({ system: "60" }));
    const large = caller.call(requestOf({ system: "100" }), { signal: abort.signal });
    void caller.call(requestOf({ system: "10" }));
    expect(await advance(0)).toBe(1);
    abort.abort();
    expect(await large).toMatchObject({ failure: { kind: "aborted" } });
    expect(await advance(0)).toBe(2);
  });
});

describe("tokens per minute", () => {
  const limits = { tokensPerMinute: 600, estimateTokens: () => 300 };

  it("are reserved by the estimate while calls run", async () => {
    const { caller, advance } = setup(limits, () => ({ hangsAfter: "" }));
    void Promise.all([1, 2, 3].map(() => caller.call(requestOf())));
    expect(await advance(0)).toBe(2);
    expect(await advance(30_000)).toBe(3);
  });

  it("are corrected by the usage: more delays the next call, less does not", async () => {
    const more = setup(limits, () => using(900));
    await more.caller.call(requestOf());
    void more.caller.call(requestOf());
    expect(await more.advance(59_999)).toBe(1);
    expect(await more.advance(1)).toBe(2);

    const less = setup(limits, () => using(0));
    for (let call = 0; call < 5; call += 1) await less.caller.call(requestOf());
    expect(less.model.callCount).toBe(5);
  });

  it.each<Partial<LlmAnswer>>([
    { usageMissing: true },
    { usageMissing: "outputTokens" },
    { usage: { ...noUsage, inputTokens: Number.NaN } },
    { usage: { ...noUsage, outputTokens: -5_000 } },
  ])("are those of the estimate where the usage was not reported: %j", async (usage) => {
    const { caller, advance } = setup(limits, () => {
      const answer = answers("x");
      return answer.ok ? { ...answer, ...usage } : answer;
    });
    for (let call = 0; call < 3; call += 1) void caller.call(requestOf());
    expect(await advance(0)).toBe(2);
    expect(await advance(30_000)).toBe(3);
  });

  it("are estimated without the bytes of files", async () => {
    const { caller, advance } = setup({ tokensPerMinute: 5_000 });
    const file = { mediaType: "image/png", data: "A".repeat(1_000_000) };
    const messages = [{ role: "user" as const, content: [{ type: "file" as const, file }] }];
    for (let call = 0; call < 2; call += 1) void caller.call(requestOf({ messages }));
    expect(await advance(0)).toBe(2);
  });

  it("are those of a minute for a request that needs more", async () => {
    const { caller, advance } = setup({ tokensPerMinute: 600, estimateTokens: () => 5000 }, () => using(600));
    await caller.call(requestOf());
    void caller.call(requestOf());
    expect(await advance(59_999)).toBe(1);
    expect(await advance(1)).toBe(2);
  });

  it("are estimated by the length of the request and its output limit by default", async () => {
    const { caller, advance } = setup({ tokensPerMinute: 1000 }, () => ({ hangsAfter: "" }));
    void caller.call(requestOf({ settings: { maxOutputTokens: 900 } }));
    void caller.call(requestOf({ settings: { maxOutputTokens: 900 } }));
    expect(await advance(0)).toBe(1);
  });
});

it("no call starts while the provider asks to wait", async () => {
  const limited: LlmOutcome = {
    ok: false,
    failure: { kind: "rate-limit", message: "slow down", retryable: true, retryAfterMs: 5000 },
    partial: "",
  };
  const { caller, advance } = setup({}, (call) => (call === 0 ? limited : answers("x")));
  expect((await caller.call(requestOf())).ok).toBe(false);
  void caller.call(requestOf());
  expect(await advance(4999)).toBe(1);
  expect(await advance(1)).toBe(2);
});

it("a call fails with the rest of the time while the provider asks to wait longer than a minute", async () => {
  const day = 86_400_000;
  const limited = fails("rate-limit", { retryAfterMs: 40 * day });
  const { caller, model, advance } = setup({ requestsPerMinute: 1 }, (call) =>
    call === 0 ? limited : answers("x"),
  );
  const first = caller.call(requestOf());
  const waiting = caller.call(requestOf());
  expect(await first).toMatchObject({ failure: { kind: "rate-limit", retryAfterMs: 40 * day } });
  await advance(60_000);
  expect(await waiting).toMatchObject({ failure: { kind: "rate-limit", retryAfterMs: 40 * day - 60_000 } });
  await advance(39 * day);
  expect(await caller.call(requestOf())).toMatchObject({
    ok: false,
    failure: { retryAfterMs: day - 60_000 },
  });
  expect(model.callCount).toBe(1);
  await advance(day);
  expect((await caller.call(requestOf())).ok).toBe(true);
});

it.each([
  [{ requestsPerMinute: 0 }, "requestsPerMinute of rateLimited must be a positive number, got 0."],
  [{ tokensPerMinute: Number.NaN }, "tokensPerMinute of rateLimited must be a positive number, got NaN."],
])("%j is refused", (limits, message) => {
  expect(() => rateLimited(new MockLlmCaller([]), limits)).toThrow(LlmOptionError);
  expect(() => rateLimited(new MockLlmCaller([]), limits)).toThrow(message);
});
