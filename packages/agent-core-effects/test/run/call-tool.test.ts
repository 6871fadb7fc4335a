import type { AgentConfig } from "@moora/agent-core-state-machine";
import { answers, callsTools } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { defineTool, toolReply, type Tool, type ToolContext } from "../../src/index.ts";
import { World, type WorldOptions } from "../world.ts";

const tool = (execute: (context: ToolContext) => unknown, more: object = {}): Tool =>
  defineTool({
    name: "work",
    description: "Works.",
    input: z.looseObject({}),
    execute: (_, context) => execute(context),
    ...more,
  });

/** An agent that has asked for `work` and not run it yet. */
async function working(made: Tool, options: WorldOptions = {}): Promise<World> {
  const script = [callsTools([{ name: "work" }]), answers("Done.")];
  const world = new World({ script, tools: [made], ...options });
  await world.say("Work.").perform("plan/1/1/1");
  return world;
}

const resultOf = (world: World, id = "call_1"): unknown => world.state.toolCalls[id]?.result;

describe("the call of a tool", () => {
  it("is recorded before the tool runs, and not run when its record did not apply", async () => {
    const execute = vi.fn(() => "ok");
    const world = await working(tool(execute));
    const early = world.state;
    const key = "tool/call_1/1";
    const running = world.perform(key);
    expect(world.inputs.at(-1)).toMatchObject({
      type: "tool-call-started",
      toolCallId: "call_1",
      attempt: 1,
    });
    expect(execute).not.toHaveBeenCalled();
    await running;
    expect(execute).toHaveBeenCalledTimes(1);

    const again = await working(tool(execute));
    again.apply({ type: "tool-call-started", toolCallId: "call_1", attempt: 1, timestamp: 1 });
    await again.perform(key);
    expect(execute).toHaveBeenCalledTimes(1);
    expect(early.toolCalls["call_1"]?.result).toBeNull();
  });

  it("gives the tool its ids, an idempotency key that every attempt has, and who approved", async () => {
    const seen: ToolContext[] = [];
    const made = tool((context) => void seen.push({ ...context }), { replay: "keyed", approval: "always" });
    const world = await working(made);
    world.apply({
      type: "tool-call-decided",
      toolCallId: "call_1",
      digest: world.state.toolCalls["call_1"]?.digest ?? "",
      by: "ada",
      decision: { type: "approved" },
      timestamp: 1,
    });
    world.apply(
      { type: "tool-call-started", toolCallId: "call_1", attempt: 1, timestamp: 1 },
      { type: "session-opened", owner: "host", timestamp: 1 },
    );
    await world.perform("tool/call_1/2");
    expect(seen[0]).toMatchObject({
      toolCallId: "call_1",
      idempotencyKey: "session/call_1",
      attempt: 2,
      approvedBy: "ada",
    });
    expect(seen[0]?.signal).toBeInstanceOf(AbortSignal);
  });

  it("names no approver where no approval was needed", async () => {
    const seen: ToolContext[] = [];
    await (await working(tool((context) => void seen.push(context)))).settle();
    expect(seen[0]).not.toHaveProperty("approvedBy");
  });

  it("passes on how far it is, until it has ended", async () => {
    let late = (): void => undefined;
    const made = tool(({ progress }) => {
      progress("half");
      late = () => progress("too late");
      return new Promise(() => undefined);
    });
    const world = await working(made);
    const cancel = new AbortController();
    const running = world.perform("tool/call_1/1", cancel.signal);
    const progressNotices = (): unknown => world.notices.filter(({ type }) => type === "ToolCallProgress");
    await untilPasses(() => expect(progressNotices()).toHaveLength(1));
    cancel.abort();
    await running;
    late();
    expect(progressNotices()).toEqual([{ type: "ToolCallProgress", toolCallId: "call_1", text: "half" }]);
  });

  it("fails for a tool that is not there, and names those that are (E10)", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `tool${index}`);
    const tools = names.map((name) =>
      defineTool({ name, description: name, input: z.object({}), execute: () => "" }),
    );
    const wanted = ["toString", "constructor", "__proto__", "hasOwnProperty", "then", "", "x".repeat(5_000)];
    const world = new World({
      script: [callsTools(wanted.map((name) => ({ name }))), answers("Sorry.")],
      tools,
    });
    await world.say("q").settle();
    expect(world.results).toHaveLength(wanted.length);
    for (const { isError, content } of world.results) {
      expect(isError).toBe(true);
      expect(content).toMatch(/^There is no tool .*tool0, tool1, .*tool19, and 10 more\.$/s);
      expect(content.length).toBeLessThan(600);
    }
    expect(world.state.toolCalls["call_3"]).toMatchObject({
      name: "__proto__",
      result: { code: "unknown-tool" },
    });
    expect(world.state.reActContext.control.type).toBe("Done");
  });

  it("fails for a tool that was removed between the call and its run (E10)", async () => {
    const execute = vi.fn(() => "ok");
    const world = await working(tool(execute));
    world.apply({ type: "agent-configured", tools: {}, timestamp: 1 });
    expect(resultOf(world)).toMatchObject({ isSuccess: false, code: "tool-changed" });
    expect(execute).not.toHaveBeenCalled();
  });

  it("fails when a tool written by hand throws, rejects or gives an invalid outcome", async () => {
    const runs: Tool["run"][] = [
      () => {
        throw new Error("no");
      },
      () => Promise.reject(new Error("no")),
      () => JSON.parse("7"),
      () => JSON.parse('{"isSuccess":true}'),
      async () => JSON.parse("null"),
      () => JSON.parse('{"isSuccess":true,"content":"x","files":[{"mediaType":7}]}'),
      () => JSON.parse('{"isSuccess":false,"error":{},"code":"x"}'),
    ];
    for (const run of runs) {
      const world = await working({ ...tool(() => ""), run });
      await world.settle();
      expect(resultOf(world)).toMatchObject({ isSuccess: false, code: "tool-error" });
      expect(world.state.reActContext.control.type).toBe("Done");
    }
  });
});

describe("a tool that takes its time", () => {
  it("fails when its time is up, and its signal says why", async () => {
    let given: AbortSignal | undefined;
    const made = tool(
      ({ signal }) => {
        given = signal;
        return new Promise(() => undefined);
      },
      { timeoutMs: 50 },
    );
    const world = await working(made);
    const running = world.perform("tool/call_1/1");
    await world.clock.whenWaiting(1);
    world.clock.advance(49);
    expect(given?.aborted).toBe(false);
    world.clock.advance(1);
    await running;
    expect(given?.reason).toMatchObject({ name: "TimeoutError" });
    expect(resultOf(world)).toMatchObject({
      isSuccess: false,
      code: "timeout",
      error: "The tool did not answer within 50 ms. It may have had its effect.",
    });
    expect(world.clock.waiting).toBe(0);
  });

  it("has the runner's time where it names none, and leaves no timer when it is done", async () => {
    let finish: (result: string) => void = () => undefined;
    const made = tool(() => new Promise<string>((resolve) => (finish = resolve)));
    const world = await working(made);
    const running = world.perform("tool/call_1/1");
    await untilPasses(() => expect(world.clock.longest).toBe(120_000));
    finish("ok");
    await running;
    expect(resultOf(world)).toMatchObject({ isSuccess: true, content: "ok" });
    expect(world.clock.waiting).toBe(0);
  });

  it("may take longer than a timer can wait", async () => {
    const world = await working(tool(() => new Promise(() => undefined), { timeoutMs: 2 ** 31 + 1_000 }));
    const running = world.perform("tool/call_1/1");
    await world.clock.whenWaiting(1);
    expect(world.clock.longest).toBe(2 ** 31 - 1);
    world.clock.advance(2 ** 31 + 999);
    expect(resultOf(world)).toBeNull();
    world.clock.advance(1);
    await running;
    expect(resultOf(world)).toMatchObject({ code: "timeout" });
  });

  it("and ignores its signal reports nothing when the call is no longer wanted (G05)", async () => {
    let finish: (result: string) => void = () => undefined;
    let given: AbortSignal | undefined;
    const made = tool(({ signal }) => {
      given = signal;
      return new Promise<string>((resolve) => (finish = resolve));
    });
    const world = await working(made);
    const cancel = new AbortController();
    const running = world.perform("tool/call_1/1", cancel.signal);
    await world.clock.whenWaiting(1);
    world.apply({ type: "re-act-cancelled", timestamp: 1 });
    cancel.abort();
    expect(given?.aborted).toBe(true);
    await running;
    const closed = world.state;
    expect(resultOf(world)).toMatchObject({
      code: "cancelled-after-start",
      says: ["cancelledAfterStart"],
    });
    finish("too late");
    await Promise.resolve();
    expect(world.state).toBe(closed);
    expect(world.clock.waiting).toBe(0);
  });

  it.each([
    { late: () => Promise.reject(new Error("too late")), more: {} },
    { late: () => null, more: {} },
    { late: () => null, more: { spends: {} } },
  ])("and fails or lies after its time is up causes no unhandled rejection", async ({ late, more }) => {
    let end: () => void = () => undefined;
    const outcome = new Promise<void>((resolve) => (end = resolve)).then(late);
    const made = {
      ...tool(() => "", { timeoutMs: 5, ...more }),
      run: async () => JSON.parse(String(await outcome)),
    };
    const world = await working(made);
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const running = world.perform("tool/call_1/1");
    await world.clock.whenWaiting(1);
    world.clock.advance(5);
    await running;
    end();
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe("a result", () => {
  it("of a hundred million characters is cut, and says how long it was (J07)", async () => {
    const world = await working(tool(() => "x".repeat(100_000_000)));
    await world.settle();
    const [result] = world.results;
    expect(result?.content.length).toBeLessThanOrEqual(100_000);
    expect(result?.content.slice(-120)).toMatch(
      /x\n\[cut: 999\d\d of 100000000 characters shown, digest of the whole [0-9a-f]{16}\]$/,
    );
  });

  it.each([
    [10, "😀😀😀😀…"],
    [11, "😀😀😀😀😀…"],
  ])("is never cut within a character, at a limit of %i", async (maxResultLength, shown) => {
    const world = await working(
      tool(() => "😀".repeat(20)),
      { host: { limits: { toolTimeoutMs: 1, maxResultLength } } },
    );
    await world.settle();
    expect(world.results[0]?.content).toBe(shown);
  });

  it("that fails is cut as well", async () => {
    const made = tool(() => {
      throw new Error("x".repeat(200_000));
    });
    const world = await working(made);
    await world.settle();
    expect(world.results[0]?.content.length).toBeLessThanOrEqual(100_000);
  });

  it("may have files, which the request carries", async () => {
    const files = [{ mediaType: "image/png", url: "https://example.test/a.png" }];
    const made = { ...tool(() => ""), run: () => ({ isSuccess: true, content: "see", files }) as const };
    const world = await working(made);
    await world.settle();
    expect(world.results[0]).toEqual({ isError: false, content: "see", files });
  });
});

describe("a probe", () => {
  const broken = async (made: Tool): Promise<World> => {
    const world = await working(made);
    world.apply(
      { type: "tool-call-started", toolCallId: "call_1", attempt: 1, timestamp: 1 },
      { type: "session-opened", owner: "host", timestamp: 1 },
    );
    expect(world.keys).toEqual(["probe/call_1/2"]);
    return world;
  };
  const probed = (probe: (input: object, context: ToolContext) => unknown, more: object = {}): Tool =>
    tool(() => expect.unreachable(), { probe, ...more });

  it("that knows the output gives the result", async () => {
    const world = await broken(probed(() => ({ output: { id: 7 } })));
    await world.perform("probe/call_1/2");
    expect(resultOf(world)).toMatchObject({ isSuccess: true, content: '{"id":7}' });
  });

  it("that knows it did not run lets it run", async () => {
    const world = await broken(probed(() => "not-run"));
    await world.perform("probe/call_1/2");
    expect(world.keys).toEqual(["tool/call_1/3"]);
  });

  it.each([
    ["does not know", probed(() => "unknown")],
    ["throws", probed(() => JSON.parse("{"))],
    ["rejects", probed(() => Promise.reject(new Error("no")))],
    ["gives an invalid outcome", probed(() => "perhaps")],
    ["says nothing", probed(() => undefined)],
    ["is written by hand and throws", { ...probed(() => "unknown"), probe: () => JSON.parse("{") }],
  ])("that %s leaves the outcome unknown, and nothing runs", async (_, made) => {
    const world = await broken(made);
    await world.perform("probe/call_1/2");
    expect(resultOf(world)).toMatchObject({ isSuccess: false, code: "outcome-unknown" });
  });

  it("of a tool that is gone leaves it unknown, too", async () => {
    const world = await broken(probed(() => "unknown"));
    const host = { ...world.host, parts: { ...world.host.parts, tools: new Map<string, Tool>() } };
    const gone = new World({ state: world.state, host });
    await gone.perform("probe/call_1/2");
    expect(resultOf(gone)).toMatchObject({ code: "outcome-unknown" });
  });

  it("that does not answer in time leaves it unknown, and its signal is aborted", async () => {
    let given: AbortSignal | undefined;
    const made = probed(
      (_, { signal }) => {
        given = signal;
        return new Promise(() => undefined);
      },
      { timeoutMs: 20 },
    );
    const world = await broken(made);
    const running = world.perform("probe/call_1/2");
    await world.clock.whenWaiting(1);
    world.clock.advance(20);
    await running;
    expect(given?.aborted).toBe(true);
    expect(resultOf(world)).toMatchObject({ code: "outcome-unknown" });
    expect(world.clock.waiting).toBe(0);
  });

  it("knows the idempotency key of the call", async () => {
    const keys: string[] = [];
    const world = await broken(probed((_, { idempotencyKey }) => (keys.push(idempotencyKey), "unknown")));
    await world.perform("probe/call_1/2");
    expect(keys).toEqual(["session/call_1"]);
  });
});

describe("what a tool used", () => {
  const recordedUsage = async (usage: object): Promise<unknown> => {
    const world = await working(tool(() => toolReply({ content: "ok", usage })));
    await world.perform("tool/call_1/1");
    const last = world.inputs.at(-1);
    return last?.type === "tool-call-completed" ? last.usage : "no result";
  };

  it("is recorded with its result, also with an error", async () => {
    expect(await recordedUsage({ inputTokens: 5, cost: 0.5 })).toEqual({ inputTokens: 5, cost: 0.5 });
    const failing = tool(() => toolReply({ content: "no", isError: true, usage: { outputTokens: 3 } }));
    const world = await working(failing);
    await world.perform("tool/call_1/1");
    expect(world.inputs.at(-1)).toMatchObject({ result: { isSuccess: false }, usage: { outputTokens: 3 } });
  });

  it("is left out where it is not an amount", async () => {
    expect(
      await recordedUsage({ inputTokens: Number.NaN, outputTokens: -1, cost: 0, odd: 7 }),
    ).toBeUndefined();
  });
});

describe("what a tool may spend", () => {
  const leftFor = async (budget: AgentConfig["budget"]): Promise<unknown> => {
    const seen: ToolContext[] = [];
    const script = [callsTools([{ name: "work" }], { usage: { inputTokens: 30, outputTokens: 10 } })];
    const prices = { default: { input: 50_000, output: 50_000 } };
    const made = tool((context) => void seen.push(context));
    const world = await working(made, { script, config: { budget, prices } });
    await world.perform("tool/call_1/1");
    return seen[0] && "budgetLeft" in seen[0] ? seen[0].budgetLeft : "no limit";
  };

  it("is what the limits of its agent leave, the smaller one of loop and total (K04)", async () => {
    expect(await leftFor({ maxTokens: 100, maxTotalTokens: 90 })).toEqual({ tokens: 50 });
    expect(await leftFor({ maxTokens: 100, maxCost: 5 })).toEqual({ tokens: 60, cost: 3 });
    expect(await leftFor({ maxTotalCost: 2.5, maxCost: 5 })).toEqual({ cost: 0.5 });
  });

  it("is nothing where they are reached, and never less", async () => {
    expect(await leftFor({ maxTokens: 40, maxCost: 1 })).toEqual({ tokens: 0, cost: 0 });
  });

  it("is not said where there is no limit", async () => {
    expect(await leftFor({})).toBe("no limit");
  });
});
