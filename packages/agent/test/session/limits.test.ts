import { answers, callsTools, fails, hangs } from "@moora/llm/testing";
import { noUsage, type LlmOutcome } from "@moora/llm";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it, vi } from "vitest";
import { defineAgent, runTask } from "../../src/index.ts";
import { failureOf, scene, settled, toolOf } from "../support.ts";

describe("a model that is too busy (F05)", () => {
  it.each([
    ["says how long", 2_000, 2_000],
    ["asks for no time at all", 0, 0],
    ["asks for as long as the agent may wait", 60_000, 60_000],
    ["does not say", undefined, 1_000],
  ])("is asked again when the clock says so: it %s", async (_, retryAfterMs, wait) => {
    const { session, clock, llm, events } = scene([
      fails("rate-limit", retryAfterMs === undefined ? {} : { retryAfterMs }),
      answers("It is 4."),
    ]);
    const run = session.ask("2+2?");
    await untilPasses(() => expect(events.some(({ type }) => type === "LlmRetryScheduled")).toBe(true));
    expect(events.find(({ type }) => type === "LlmRetryScheduled")).toEqual({
      type: "LlmRetryScheduled",
      messageId: "msg_1_1",
      due: 1_000 + wait,
      reason: "rate-limit",
      message: expect.any(String),
    });
    if (wait > 0) {
      expect(session.current().reActContext.control).toMatchObject({
        type: "Planning",
        retryAt: 1_000 + wait,
      });
      clock.advance(wait - 1);
      await settled();
      expect(llm.callCount).toBe(1);
      clock.advance(1);
    }
    expect((await run).text).toBe("It is 4.");
    expect(llm.callCount).toBe(2);
    expect(clock.waiting).toBe(0);
  });

  it.each([
    ["one millisecond too long", 60_001, "1970-01-01T00:01:01.001Z"],
    ["16 days", 16 * 86_400_000, "1970-01-17T00:00:01.000Z"],
    ["longer than there are dates", 1e300, "+275760-09-13T00:00:00.000Z"],
  ])(
    "is not asked again where it asks for a longer wait than the agent may take: %s",
    async (_, retryAfterMs, at) => {
      const { session, clock, llm } = scene([fails("rate-limit", { retryAfterMs }), answers("It is 4.")]);
      const error = await failureOf(session.ask("2+2?"));
      const message = `Scripted failure: rate-limit The provider accepts no request before ${at}, which is later than retries.maxDelayMs (60000) allows.`;
      expect(error).toMatchObject({
        kind: "LlmError",
        reason: "rate-limit",
        message,
        retryAt: Date.parse(at),
      });
      expect(error).toHaveProperty("state.reActContext.control.failure.retryAt", Date.parse(at));
      expect(JSON.parse(JSON.stringify(error))).toMatchObject({ retryAt: Date.parse(at) });
      expect([llm.callCount, clock.waiting]).toEqual([1, 0]);
      expect((await session.ask("2+2?")).text).toBe("It is 4.");
    },
  );

  it("says no time where it fails for another reason", async () => {
    const { session } = scene([fails("billing", { retryAfterMs: 1e9 })]);
    const error = await failureOf(session.ask("q"));
    expect(error).toMatchObject({ message: "Scripted failure: billing" });
    expect(JSON.stringify(error)).not.toContain("retryAt");
  });

  it("waits twice as long each time, up to the cap, and no more often than allowed", async () => {
    const { session, clock, llm } = scene(() => fails("server"), {
      config: { retries: { delayMs: 100, maxDelayMs: 350, maxLlmAttempts: 4 } },
    });
    const failed = failureOf(session.ask("q"));
    for (const [calls, wait] of [
      [1, 100],
      [2, 200],
      [3, 350],
    ] as const) {
      await clock.whenWaiting(1);
      expect(llm.callCount).toBe(calls);
      clock.advance(wait - 1);
      await settled();
      expect(llm.callCount).toBe(calls);
      clock.advance(1);
    }
    expect(await failed).toMatchObject({ kind: "LlmError", reason: "server" });
    expect(llm.callCount).toBe(4);
  });

  it("keeps the wait when it is taken up by another host", async () => {
    const first = scene([fails("rate-limit", { retryAfterMs: 5_000 })]);
    void first.session.send("2+2?");
    await first.clock.whenWaiting(1);
    const { streaming: _, ...state } = first.session.current();
    await first.session.close();
    const { session, clock, llm } = scene([answers("It is 4.")], { options: { state } });
    clock.advance(4_999);
    await settled();
    expect(llm.callCount).toBe(0);
    clock.advance(1);
    await session.settled();
    expect(session.current().messages.at(-1)?.content).toBe("It is 4.");
  });

  it.each(["auth", "billing", "invalid-request", "refusal", "content-filter"] as const)(
    "is not asked again where a retry cannot help: %s; the next message works (F04, F07)",
    async (kind) => {
      const { session, llm } = scene([fails(kind), answers("It is 4.")]);
      expect(await failureOf(session.ask("q"))).toMatchObject({ kind: "LlmError", reason: kind });
      expect((await session.ask("2+2?")).text).toBe("It is 4.");
      expect(llm.callCount).toBe(2);
    },
  );

  it("is asked once more where it said nothing, and no later request has an empty text (F03)", async () => {
    const { session, clock, llm } = scene([fails("empty"), fails("empty"), answers("It is 4.")]);
    const failed = failureOf(session.ask("q"));
    await clock.whenWaiting(1);
    clock.advance(1_000);
    expect(await failed).toMatchObject({ reason: "empty" });
    await session.ask("2+2?");
    expect(llm.requests[2]?.messages.map(({ role }) => role)).not.toContain("assistant");
  });

  it("keeps what was streamed before it broke off, marked, and no tool of it runs (F01)", async () => {
    const { session, clock } = scene([fails("interrupted", { partial: "It is" }), answers("It is 4.")]);
    const run = session.ask("2+2?");
    await clock.whenWaiting(1);
    clock.advance(1_000);
    await run;
    expect(session.current().messages.map(({ content, status }) => [content, status])).toEqual([
      ["2+2?", undefined],
      ["It is", "cut"],
      ["It is 4.", undefined],
    ]);
  });

  it("and cuts its calls off at the token limit runs none of them, and ends after three such turns (F02)", async () => {
    const work = vi.fn(() => "ok");
    const cut = callsTools([{ name: "work" }, { name: "work" }, { name: "work", arguments: '{"a":' }], {
      finish: "length",
    });
    const { session } = scene(() => cut, { tools: [toolOf("work", work)] });
    expect(await failureOf(session.ask("q"))).toMatchObject({ kind: "AgentFailed", reason: "Truncated" });
    expect(work).not.toHaveBeenCalled();
    const results = Object.values(session.current().toolCalls).map(({ result }) => result);
    expect(results).toHaveLength(9);
    for (const result of results) expect(result).toMatchObject({ isSuccess: false, code: "cut" });
  });
});

describe("a model that repeats one call for ever (K01)", () => {
  it("stops at the limit of steps; a new message has a new limit", async () => {
    const work = vi.fn(() => "ok");
    const { session, llm } = scene(
      (_, call) => (call < 5 ? callsTools([{ name: "work" }]) : answers("Done.")),
      {
        tools: [toolOf("work", work)],
        config: { limits: { maxSteps: 5 } },
      },
    );
    expect(await failureOf(session.ask("q"))).toMatchObject({
      kind: "AgentFailed",
      reason: "MaxSteps",
      message: "The loop reached its limit of model calls. limits.maxSteps is 5.",
    });
    expect([work.mock.calls.length, llm.callCount]).toEqual([5, 5]);
    expect((await session.ask("again")).text).toBe("Done.");
  });

  it("stops at its budget of tokens, which a new message does not renew where it is the conversation's", async () => {
    const spend = callsTools([{ name: "work" }], { usage: { inputTokens: 60, outputTokens: 10 } });
    const { session, llm } = scene(() => spend, {
      tools: [toolOf("work")],
      config: { budget: { maxTokens: 140, maxTotalTokens: 280 } },
    });
    for (const total of [140, 280, 280]) {
      const error = await failureOf(session.ask("q"));
      expect(error).toMatchObject({ kind: "AgentFailed", reason: "BudgetExceeded" });
      const { usage } = session.current();
      expect(usage.inputTokens + usage.outputTokens).toBe(total);
    }
    expect(llm.callCount).toBe(4);
  });
});

describe("a thousand calls in one turn (K03)", () => {
  it("32 run, never more than 4 at once, and 968 read why they did not", async () => {
    let now = 0;
    let most = 0;
    const work = vi.fn(async () => {
      now += 1;
      most = Math.max(most, now);
      await Promise.resolve();
      now -= 1;
      return "ok";
    });
    const { session, llm } = scene(
      [callsTools(Array.from({ length: 1_000 }, () => ({ name: "work" }))), answers("Done.")],
      {
        tools: [toolOf("work", work)],
        config: { toolCalls: { maxPerTurn: 32, maxParallel: 4 } },
      },
    );
    const warnings: string[] = [];
    session.onEvent((event) => {
      if (event.type === "LlmWarning") warnings.push(event.text);
    });
    await session.ask("q");
    expect([work.mock.calls.length, most]).toEqual([32, 4]);
    expect(warnings).toEqual(["Calls of this turn that were not run: 968 (toolCalls.maxPerTurn is 32)."]);
    const [, turn] = llm.requests[1]?.messages ?? [];
    const results = turn?.role === "assistant" ? turn.results : [];
    expect(results).toHaveLength(1_000);
    expect(results.filter(({ isError }) => isError)).toHaveLength(968);
    expect(results[999]?.content).toMatch(/only the first 32 calls/);
  });

  it("a tool's own maxParallel holds, too", async () => {
    let now = 0;
    let most = 0;
    const narrow = toolOf(
      "narrow",
      async () => {
        now += 1;
        most = Math.max(most, now);
        await Promise.resolve();
        now -= 1;
      },
      { maxParallel: 2 },
    );
    const { session } = scene(
      [callsTools(Array.from({ length: 10 }, () => ({ name: "narrow" }))), answers("Done.")],
      {
        tools: [narrow],
      },
    );
    await session.ask("q");
    expect(most).toBe(2);
  });
});

describe("a result that comes twice, or late (E04, E06, E07)", () => {
  it("changes nothing, and gets the reason", async () => {
    const { session, inputs } = scene([callsTools([{ name: "work" }]), hangs()], { tools: [toolOf("work")] });
    await session.send("q");
    await untilPasses(() => expect(session.current().toolCalls["call_1"]?.result?.isSuccess).toBe(true));
    await untilPasses(() => expect(inputs.at(-1)?.starts).toMatchObject([{ key: "plan/1/2/1" }]));
    const [before, count] = [session.current(), inputs.length];
    for (const settlement of [{ content: "ok" }, { content: "ok" }, { error: "no" }])
      expect(await session.settle("call_1", settlement)).toEqual({ status: "ignored", reason: "not-open" });
    expect(await session.settle("__proto__", { content: "ok" })).toEqual({
      status: "ignored",
      reason: "unknown-call",
    });
    expect(session.current()).toBe(before);
    expect(inputs).toHaveLength(count);
  });
});

describe("a model and tools that answer at once", () => {
  it("let timers run: a cancel from one comes before the limit of steps", async () => {
    const outcome: LlmOutcome = {
      ok: true,
      model: "m",
      turn: { origin: "m", parts: [{ type: "tool-call", id: "a", name: "look", arguments: "{}" }] },
      finish: { unified: "tool-calls", raw: "tool_calls" },
      usage: noUsage,
    };
    const agent = defineAgent({
      llm: { name: "m", call: async () => outcome },
      tools: [toolOf("look")],
      config: { limits: { maxSteps: 5_000, maxRepeatedCalls: 0 } },
    });
    const run = runTask(agent, "q");
    setTimeout(() => run.cancel("It is late."), 0);
    expect(await failureOf(run)).toMatchObject({ kind: "Cancelled", message: "It is late." });
  });
});
