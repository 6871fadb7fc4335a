import { memoryLog } from "@moora/event-log";
import { noUsage, type LlmCaller } from "@moora/llm";
import { answers, callsTools, fails, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  agentTool,
  agentTransition,
  applyInputs,
  defineAgent,
  defineTool,
  effectsAt,
  initialStateOf,
  openSession,
  performEffect,
  runTask,
  startSession,
  toolReply,
  verifySession,
  type Agent,
  type AgentConfigChange,
  type AgentState,
  type DispatchBatch,
  type PriceList,
  type StateDecision,
  type Tool,
} from "../src/index.ts";
import { TestClock } from "@moora/testbed/test-clock";
import { failureOf, settled } from "./support.ts";
import { graphOf } from "@moora/testbed/graph-of";
import { toolOf } from "@moora/testbed/tool-of";

const tokens = (count: number) => ({ usage: { inputTokens: count - 10, outputTokens: 10 } });

const agentOf = (
  script: MockScript,
  options: {
    readonly tools?: readonly Tool[];
    readonly config?: AgentConfigChange;
    readonly prices?: PriceList;
  } = {},
): Agent & { readonly llm: MockLlmCaller } => {
  const llm = new MockLlmCaller(script);
  return { ...defineAgent({ llm, ...options }), llm };
};

const researcher = (agent: Agent): Tool =>
  agentTool(agent, { name: "research", description: "Looks things up." });

/** Calls the researcher so many times in one turn, and answers. */
const lead = (calls: number, agent: Agent, config: AgentConfigChange) =>
  agentOf(
    ({ messages }) =>
      messages.some(({ role }) => role === "assistant")
        ? answers("done")
        : callsTools(
            Array.from({ length: calls }, () => ({ name: "research", arguments: { task: "look" } })),
          ),
    { tools: [researcher(agent)], config },
  );

/** A model that never answers, and reports what it has used so far when it is aborted. */
const endless = (inputTokens: number): LlmCaller => ({
  name: "endless",
  call: (_, { signal } = {}) =>
    new Promise((resolve) => {
      signal?.addEventListener("abort", () =>
        resolve({
          ok: false,
          failure: { kind: "aborted", message: "The call was aborted.", retryable: false },
          partial: "Hel",
          usage: { ...noUsage, inputTokens },
        }),
      );
    }),
});

const turns = async (count = 12): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await settled();
};

describe("sub-agents that are called side by side", () => {
  it("never spend the same tokens: 100 are not spent 450 times", async () => {
    const child = agentOf(() => answers("found", tokens(90)));
    await using session = startSession(lead(5, child, { budget: { maxTokens: 100 } }));
    await failureOf(session.ask("go"));
    // The second child finds the 10 that the first one left, and may overrun them by its one answer.
    expect(child.llm.callCount).toBe(2);
    expect(session.current().usage).toMatchObject({ inputTokens: 160, outputTokens: 20 });
    const outcomes = Object.values(session.current().toolCalls).map(({ result }) => result?.isSuccess);
    expect(outcomes).toEqual([true, true, false, false, false]);
  });

  it("run at once as far as their own limits fit in what is left", async () => {
    let running = 0;
    let most = 0;
    const slow = toolOf("slow", async () => {
      running += 1;
      most = Math.max(most, running);
      await settled();
      running -= 1;
    });
    const script: MockScript = ({ messages }) =>
      messages.some(({ role }) => role === "assistant")
        ? answers("found", tokens(20))
        : callsTools([{ name: "slow" }], tokens(20));
    const child = agentOf(script, { tools: [slow], config: { budget: { maxTokens: 40 } } });
    const { state } = await runTask(lead(3, child, { budget: { maxTokens: 125 } }), "go");
    expect(most).toBe(3);
    expect(Object.values(state.toolCalls).every(({ result }) => result?.isSuccess === true)).toBe(true);
    await failureOf(runTask(lead(3, child, { budget: { maxTokens: 80 } }), "go"));
    expect(most).toBe(3);
    expect(child.llm.callCount).toBe(6 + 4);
  });
});

describe("the price list of an agent", () => {
  const prices = { default: { input: 2_000_000, output: 8_000_000 } };

  it("is that of its caller where it has none of its own: what it spends counts for the caller's cost limit", async () => {
    const child = agentOf(() => answers("found", tokens(20)));
    const caller = agentOf(
      [callsTools([{ name: "research", arguments: { task: "look" } }]), answers("done")],
      {
        tools: [researcher(child)],
        prices,
      },
    );
    const { usage } = await runTask(caller, "go");
    expect(usage.cost).toBe(10 * 2 + 10 * 8);
  });

  it("is its own where it has one", async () => {
    const child = agentOf(() => answers("found", tokens(20)), {
      prices: { default: { input: 1_000_000, output: 0 } },
    });
    const caller = agentOf(
      [callsTools([{ name: "research", arguments: { task: "look" } }]), answers("done")],
      {
        tools: [researcher(child)],
        prices,
      },
    );
    expect((await runTask(caller, "go")).usage.cost).toBe(10);
  });
});

describe("one answer", () => {
  const limits = async (config: AgentConfigChange, prices?: PriceList) => {
    const look = toolOf("look", () => "seen");
    const agent = agentOf([callsTools([{ name: "look" }], tokens(60)), answers("done", tokens(20))], {
      tools: [look],
      config,
      ...(prices === undefined ? {} : { prices }),
    });
    await runTask(agent, "go").then(undefined, () => undefined);
    return agent.llm.requests.map(({ settings }) => settings.maxOutputTokens);
  };

  it("is limited to what the budget leaves", async () => {
    expect(await limits({ budget: { maxTokens: 1_000 } })).toEqual([1_000, 940]);
    expect(await limits({ budget: { maxTokens: 1_000 }, settings: { maxOutputTokens: 950 } })).toEqual([
      950, 940,
    ]);
    expect(await limits({ budget: { maxTotalTokens: 65 } })).toEqual([65, 16]);
  });

  it("is limited by its price", async () => {
    const prices = { default: { input: 0, output: 1_000_000 } };
    expect(await limits({ budget: { maxCost: 500 } }, prices)).toEqual([500, 490]);
  });

  it("is not limited while more is left than any answer takes, or without a budget", async () => {
    expect(await limits({ budget: { maxTokens: 1_000_000 } })).toEqual([undefined, undefined]);
    expect(await limits({ settings: { maxOutputTokens: 700 } })).toEqual([700, 700]);
  });
});

describe("the usage of work that ended without an answer", () => {
  it("counts for a model call that was cancelled, when its caller reports it", async () => {
    await using session = startSession(defineAgent({ llm: endless(1_000) }));
    const run = session.ask("go");
    await turns();
    await session.cancel();
    await failureOf(run);
    await turns();
    expect(session.current().usage.inputTokens).toBe(1_000);
    expect(session.current().unreportedUsage).toEqual([]);
  });

  it("counts for a tool that answers after its time is up", async () => {
    const clock = new TestClock(1_000);
    const answered = Promise.withResolvers<void>();
    const late = defineTool({
      name: "late",
      description: "Calls a model of its own.",
      input: z.object({}),
      spends: {},
      timeoutMs: 1_000,
      async execute() {
        await answered.promise;
        return toolReply({ content: "late", usage: { inputTokens: 70 } });
      },
    });
    await using session = startSession(
      agentOf([callsTools([{ name: "late" }]), answers("done")], { tools: [late] }),
      { clock },
    );
    const run = session.ask("go");
    await turns();
    clock.advance(1_001);
    await run;
    expect(session.current().usage.inputTokens).toBe(0);
    answered.resolve();
    await turns();
    expect(session.current().usage.inputTokens).toBe(70);
  });
});

describe("what a call sets aside that outlives its timeout", () => {
  /** A tool that spends 900 tokens, and ends only when the test says so, whatever its signal. */
  const lateTool = () => {
    const ends: (() => void)[] = [];
    let most = 0;
    let running = 0;
    const tool = defineTool({
      name: "late",
      description: "Calls a model of its own.",
      input: z.object({}),
      replay: "safe",
      spends: { tokens: 900 },
      timeoutMs: 1_000,
      async execute() {
        running += 1;
        most = Math.max(most, running);
        await new Promise<void>((resolve) => ends.push(resolve));
        running -= 1;
        return toolReply({ content: "late", usage: { inputTokens: 900 } });
      },
    });
    return { tool, ends, most: () => most };
  };
  const budget = { maxTokens: 2_000 };
  const twice = callsTools([{ name: "late" }, { name: "late" }]);
  const outcomes = ({ toolCalls }: AgentState): unknown[] =>
    Object.values(toolCalls).map(({ result }) => result?.isSuccess === false && result.code);

  it("stays set aside until the call has reported its usage: no more run at once than the budget pays for", async () => {
    const clock = new TestClock(1_000);
    const { tool, ends, most } = lateTool();
    const script = [twice, twice, twice, twice, answers("done")];
    await using session = startSession(agentOf(script, { tools: [tool], config: { budget } }), { clock });
    const run = session.ask("go");
    for (let turn = 0; turn < 8; turn += 1) {
      await turns();
      clock.advance(1_001);
    }
    const { state } = await run;
    expect(most()).toBe(3);
    expect(outcomes(state)).toEqual([...Array(3).fill("timeout"), ...Array(5).fill("not-run")]);
    const { result } = state.toolCalls["call_4"] ?? {};
    expect(result).toMatchObject({ error: expect.stringContaining("set aside") });
    for (const end of ends) end();
    await turns();
    expect(session.current().usage.inputTokens).toBe(2_700);
    expect(session.current().reActContext.lateReservations).toEqual([]);
  });

  it("is free for the next call when it has reported less", async () => {
    const clock = new TestClock(1_000);
    const { tool, ends, most } = lateTool();
    const once = callsTools([{ name: "late" }]);
    const config = { budget: { maxTokens: 1_900 } };
    const limits: unknown[] = [];
    const llm = new MockLlmCaller(async ({ settings }, call) => {
      limits.push(settings.maxOutputTokens);
      if (call === 1) {
        ends[0]?.();
        await turns();
      }
      return call < 2 ? once : answers("done");
    });
    await using session = startSession(defineAgent({ llm, tools: [tool], config }), { clock });
    const run = session.ask("go");
    await turns();
    clock.advance(1_001);
    await turns(40);
    expect(session.current().reActContext.lateReservations).toEqual([]);
    expect(ends).toHaveLength(2);
    ends[1]?.();
    expect(outcomes((await run).state)).toEqual(["timeout", false]);
    expect(most()).toBe(1);
    // What is set aside for a late call does not shorten the answer after it.
    expect(limits).toEqual([1_900, 1_900, 100]);
  });

  it("stays set aside in the next loop, after a cancel", async () => {
    const { tool, most, ends } = lateTool();
    const script = [twice, twice, answers("done")];
    const config = { budget: { maxTotalTokens: 1_000 }, toolCalls: { maxParallel: 1 } };
    await using session = startSession(agentOf(script, { tools: [tool], config }));
    const run = session.ask("go");
    await turns();
    await session.cancel();
    await failureOf(run);
    const second = session.ask("again");
    await turns();
    expect(ends).toHaveLength(2);
    await session.cancel();
    await failureOf(second);
    expect(session.current().reActContext.lateReservations).toEqual([
      { key: "tool/call_1/1", reserved: { tokens: 900 } },
      { key: "tool/call_3/1", reserved: { tokens: 100 } },
    ]);
    expect(await session.ask("and again")).toMatchObject({ text: "done" });
    expect(most()).toBe(2);
  });

  it("is free where the host can no longer report: after it has opened the session anew", async () => {
    const clock = new TestClock(1_000);
    const log = memoryLog();
    const { tool } = lateTool();
    const agent = agentOf([twice, answers("done")], { tools: [tool], config: { budget } });
    const session = await openSession(agent, { log, id: "s", clock });
    const run = session.ask("go");
    await turns();
    clock.advance(1_001);
    await run;
    expect(session.current().reActContext.lateReservations).toHaveLength(2);
    await session.close();
    await using opened = await openSession(agent, { log, id: "s", clock });
    expect(opened.current().reActContext.lateReservations).toEqual([]);
    expect(await verifySession(log, "s")).toMatchObject({ ok: true });
  });

  it("is free at the timeout where the host cannot report, as one that performs each effect by itself", async () => {
    const clock = new TestClock(1_000);
    const { tool } = lateTool();
    const agent = agentOf([twice, answers("done")], { tools: [tool], config: { budget } });
    let state = agentTransition({
      type: "user-message-received",
      messageId: "m",
      content: "go",
      timestamp: 1,
    })(initialStateOf(agent));
    const perform = async (): Promise<void> => {
      const dispatch: DispatchBatch = (...inputs) => {
        const { state: next, applied } = applyInputs(state, inputs);
        state = next;
        return applied > 0;
      };
      const effects = Object.values(effectsAt(state));
      const performing = effects.map((effect) =>
        performEffect(agent, effect, state, {
          dispatch,
          sessionId: "s",
          clock,
          signal: new AbortController().signal,
        }),
      );
      await turns();
      clock.advance(1_001);
      await Promise.all(performing);
    };
    await perform();
    await perform();
    expect(outcomes(state)).toEqual(["timeout", "timeout"]);
    expect(state.reActContext.lateReservations).toBeUndefined();
  });
});

describe("tools that the handler of a custom state calls", () => {
  const checking = (child: Agent, config: AgentConfigChange, calls: number, sideBySide: boolean) =>
    defineAgent({
      llm: new MockLlmCaller(() => answers("done", tokens(95))),
      tools: [researcher(child)],
      config: {
        ...config,
        graph: graphOf({ Planning: { LlmFinalAnswer: "Check" }, Check: { Fine: "Done" } }),
      },
      states: {
        async Check(_, { callTool }) {
          const call = async (): Promise<unknown> => await callTool("research", { task: "look" });
          if (sideBySide) await Promise.all(Array.from({ length: calls }, call));
          else for (let index = 0; index < calls; index += 1) await call();
          return "Fine";
        },
      },
    });

  it.each([
    ["one after the other", false],
    ["side by side", true],
  ])("spend from the budget of the loop, %s, and count for it", async (_, sideBySide) => {
    const child = agentOf(() => answers("found", tokens(90)));
    const { state } = await runTask(checking(child, { budget: { maxTokens: 100 } }, 3, sideBySide), "go");
    // Five tokens are left after the answer: the first call may overrun them by one answer, the others find nothing.
    expect(child.llm.callCount).toBe(1);
    expect(state.usage).toMatchObject({ inputTokens: 165, outputTokens: 20 });
  });

  it("count for a handler that was cancelled", async () => {
    const child: Agent = defineAgent({ llm: endless(70) });
    await using session = startSession(checking(child, {}, 1, false));
    const run = session.ask("go");
    await turns();
    run.cancel();
    await failureOf(run);
    await turns();
    expect(session.current().usage).toMatchObject({ inputTokens: 85 + 70 });
  });

  it.each<[string, (call: () => Promise<unknown>) => Promise<unknown>]>([
    ["is not awaited", async (call) => void call()],
    ["has a sibling that rejects", (call) => Promise.all([call(), Promise.reject(new Error("no"))])],
  ])("count when they end where a call of the handler %s", async (_, handle) => {
    const ready = Promise.withResolvers<void>();
    const child = defineAgent({
      name: "child",
      llm: new MockLlmCaller(async () => {
        await ready.promise;
        return answers("found", tokens(90));
      }),
    });
    const agent = checking(child, {}, 1, false);
    const states: Agent["parts"]["states"] = {
      async Check(_state, { callTool }) {
        await handle(async () => await callTool("research", { task: "look" }));
        return "Fine";
      },
    };
    await using session = startSession({ ...agent, parts: { ...agent.parts, states } });
    await session.ask("go").then(undefined, () => undefined);
    const before = session.current();
    expect(before.unreportedUsage).toHaveLength(1);
    ready.resolve();
    await turns();
    const { usage, unreportedUsage } = session.current();
    expect(usage.inputTokens).toBe(before.usage.inputTokens + 80);
    expect(unreportedUsage).toEqual([]);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("no connection"))],
    ["returns a note that no log takes", () => ({ event: "Fine", note: "x".repeat(20_000_000) })],
  ])("count for a handler that %s", async (_, end: () => StateDecision | Promise<StateDecision>) => {
    const child = agentOf(() => answers("found", tokens(90)));
    const agent = checking(child, {}, 1, false);
    const check = agent.parts.states["Check"];
    const states: Agent["parts"]["states"] = {
      async Check(state, context) {
        await check?.(state, context);
        return await end();
      },
    };
    const error = await failureOf(runTask({ ...agent, parts: { ...agent.parts, states } }, "go"));
    expect(error).toMatchObject({ usage: { inputTokens: 85 + 80, outputTokens: 20 } });
    expect(String(error)).toContain("HandlerFailed");
  });
});

describe("a model call that failed after it had used tokens", () => {
  it("is not tried again where the budget is spent", async () => {
    const clock = new TestClock(1_000);
    const agent = agentOf([fails("overloaded", tokens(500)), answers("done")], {
      config: { budget: { maxTokens: 100 } },
    });
    await using session = startSession(agent, { clock });
    const run = session.ask("go");
    await turns();
    clock.advance(60_000);
    expect(await failureOf(run)).toMatchObject({ reason: "BudgetExceeded" });
    expect(agent.llm.callCount).toBe(1);
  });
});

describe("a sub-agent that its caller moves on without", () => {
  it("counts for the caller", async () => {
    const sign = toolOf("sign", () => "signed", { approval: "always" });
    const task = { name: "research", arguments: { task: "look" } };
    const agent = defineAgent({
      llm: new MockLlmCaller((_, call) =>
        call === 0 ? callsTools([task, { name: "sign" }]) : answers("done"),
      ),
      tools: [researcher(defineAgent({ llm: endless(70) })), sign],
      config: {
        graph: graphOf({
          WaitingForHuman: { HumanApproved: "Skip", HumanApprovedParallel: "Skip" },
          Skip: { On: "Planning" },
        }),
      },
      states: { Skip: () => "On" },
    });
    await using session = startSession(agent, { onApproval: () => "approve", clock: new TestClock(1_000) });
    await session.ask("go");
    await turns();
    expect(session.current().usage.inputTokens).toBe(70);
  });
});
