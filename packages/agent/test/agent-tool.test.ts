import { memoryLog } from "@moora/event-log";
import { answers, callsTools, fails, hangs, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  agentTool,
  agentToolSessionId,
  defineAgent,
  openSession,
  runTask,
  startSession,
  type Agent,
  type AgentConfig,
  type AgentConfigChange,
  type AgentToolOptions,
  type Tool,
} from "../src/index.ts";
import { TestClock } from "@moora/testbed/test-clock";
import { failureOf, settled, toolOf } from "./support.ts";

const usage = { inputTokens: 30, outputTokens: 10 };
const asks = (name: string, task: string = "Look it up.") =>
  callsTools([{ name, arguments: { task } }], { usage });

const described: AgentToolOptions = { name: "researcher", description: "Looks things up." };
const asTool = (agent: Agent<unknown>, more: Partial<AgentToolOptions> = {}): Tool =>
  agentTool(agent, { ...described, ...more });

const agentOf = (
  script: MockScript,
  tools: readonly Tool[] = [],
  config: AgentConfigChange = {},
): Agent & { readonly llm: MockLlmCaller } => {
  const llm = new MockLlmCaller(script);
  return { ...defineAgent({ llm, tools, config }), llm };
};

/** One who asks the tool once, and then answers. */
const callerOf = (tool: Tool, config: AgentConfigChange = {}): ReturnType<typeof agentOf> =>
  agentOf([asks(tool.name), answers("So it is.", { usage })], [tool], config);

/** What the caller got for its call. */
const resultOf = async (tool: Tool): Promise<unknown> =>
  (await runTask(callerOf(tool), "q")).state.toolCalls["call_1"]?.result;

/** Waits until nothing can continue by itself, three agents deep. */
const settledDeeply = async (): Promise<void> => {
  for (let turn = 0; turn < 9; turn += 1) await settled();
};

describe("an agent as a tool", () => {
  it("is given the task, and its answer is the result", async () => {
    const child = agentOf([answers("Oslo.")]);
    expect(await resultOf(asTool(child))).toMatchObject({ isSuccess: true, content: "Oslo." });
    expect(JSON.stringify(child.llm.requests[0]?.messages)).toContain("Look it up.");
  });

  it("gives a typed answer as JSON text", async () => {
    const llm = new MockLlmCaller([answers('{"city":"Oslo"}')]);
    const child = defineAgent({ llm, answer: z.object({ city: z.string() }) });
    expect(await resultOf(asTool(child))).toMatchObject({ isSuccess: true, content: '{"city":"Oslo"}' });
  });

  it("begins anew for each call", async () => {
    const child = agentOf(() => answers("Oslo."));
    const caller = agentOf(
      [asks("researcher"), asks("researcher", "And again."), answers("Done.")],
      [asTool(child)],
    );
    await runTask(caller, "q");
    expect(child.llm.requests.map(({ messages }) => messages.length)).toEqual([1, 1]);
  });

  it("that fails is an error that the model reads, with its kind", async () => {
    const down = agentOf([fails("auth", { message: "No such key." })]);
    expect(await resultOf(asTool(down))).toMatchObject({
      isSuccess: false,
      error: expect.stringMatching(/^LlmError: .*No such key/),
    });
    const endless = agentOf(() => callsTools([{ name: "look" }]), [toolOf("look")], {
      limits: { maxSteps: 2 },
    });
    expect(await resultOf(asTool(endless))).toMatchObject({
      isSuccess: false,
      error: expect.stringMatching(/^AgentFailed: /),
    });
  });

  it("runs again only where it is kept in a log", () => {
    expect(asTool(agentOf([])).definition.replay).toBe("once");
  });

  it("takes what says of itself what any tool does", () => {
    const { definition } = asTool(agentOf([]), {
      risk: "high",
      approval: "always",
      timeoutMs: 5,
      maxParallel: 1,
    });
    expect(definition).toMatchObject({ risk: "high", approval: "always", timeoutMs: 5, maxParallel: 1 });
  });
});

describe("what a sub-agent asks of a human", () => {
  const payer = (): Agent =>
    agentOf(
      [callsTools([{ name: "pay" }]), answers("I tried.")],
      [toolOf("pay", () => "paid", { approval: "always" })],
    );
  /** The result of its own call, as its second request shows it. */
  const paid = async (more: Partial<AgentToolOptions>): Promise<string> => {
    const child = payer();
    await runTask(callerOf(asTool(child, more)), "q");
    const { llm } = child.parts;
    return llm instanceof MockLlmCaller ? JSON.stringify(llm.requests[1]?.messages.at(-1)) : "";
  };

  it("is rejected where no reviewer can answer, so that it never hangs", async () => {
    expect(await paid({})).toContain("Not run. No reviewer is available.");
  });
});

describe("a cancel", () => {
  /** Three agents, one inside the other; the innermost has begun a call that never ends. */
  const deep = () => {
    const signals: AbortSignal[] = [];
    const clock = new TestClock(1_000);
    const late: ((value: string) => void)[] = [];
    const work = toolOf("work", (_, { signal }) => {
      signals.push(signal);
      return new Promise<string>((resolve) => void late.push(resolve));
    });
    const leaf = agentOf([callsTools([{ name: "work" }]), answers("never")], [work]);
    const middle = agentOf([asks("leaf"), answers("never")], [asTool(leaf, { name: "leaf", clock })]);
    const root = agentOf(
      [asks("middle"), answers("never")],
      [asTool(middle, { name: "middle", clock, timeoutMs: 9_000 })],
    );
    const asked = (): readonly number[] => [root, middle, leaf].map(({ llm }) => llm.callCount);
    return { root, clock, signals, late, asked };
  };

  it("of the root leaves every level idle, and late results change nothing (I02)", async () => {
    const { root, clock, signals, late, asked } = deep();
    await using session = startSession(root, { clock });
    const run = session.ask("q");
    await settledDeeply();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await session.cancel("Enough.");
    await settled();
    expect(await failureOf(run)).toMatchObject({ kind: "Cancelled" });
    expect(signals[0]?.reason).toMatchObject({ name: "AbortError" });
    await session.settled();
    const ended = session.current();
    for (const finish of late) finish("late");
    await settledDeeply();
    expect(session.current()).toBe(ended);
    expect(asked()).toEqual([1, 1, 1]);
    expect(clock.waiting).toBe(0);
  });

  it("comes with a timeout, too, and the caller continues", async () => {
    const { root, clock, signals, asked } = deep();
    const run = runTask(root, "q", { clock });
    await settledDeeply();
    clock.advance(9_000);
    const { state } = await run;
    expect(state.toolCalls["call_1"]?.result).toMatchObject({ isSuccess: false, code: "timeout" });
    await settled();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(asked()).toEqual([2, 1, 1]);
    expect(clock.waiting).toBe(0);
  });

  it("ends the request that a model is answering", async () => {
    const child = agentOf([hangs("So far")]);
    await using session = startSession(callerOf(asTool(child)));
    const run = session.ask("q");
    await settledDeeply();
    await session.cancel();
    expect(await failureOf(run)).toMatchObject({ kind: "Cancelled" });
    await settled();
    expect(child.llm.options[0]?.signal?.aborted).toBe(true);
  });
});

describe("a sub-agent whose session another process takes over", () => {
  it("fails the call without the name of that process, which only its own host reads", async () => {
    const [begun, found] = [Promise.withResolvers<undefined>(), Promise.withResolvers<string>()];
    const look = toolOf("look", async () => {
      begun.resolve(undefined);
      return await found.promise;
    });
    const log = memoryLog();
    const researcher = agentOf([callsTools([{ name: "look" }]), answers("Found.")], [look]);
    const caller = callerOf(asTool(researcher, { log }));
    const onError = (): void => undefined;
    await using session = await openSession(caller, { log, id: "ada", onError });
    await session.send("Look it up.");
    await begun.promise;
    const id = (await log.list()).map((listed) => listed.id).find((each) => each !== "ada") ?? "";
    const takeover = { log, id, owner: "machine-7, process 4711", isOwnerGone: () => true, onError };
    await using taken = await openSession(researcher, takeover);
    found.resolve("It is here.");
    await session.settled();
    const record = JSON.stringify(await session.history());
    expect(record).toContain("Conflict: Another process has taken over the session.");
    expect(record).not.toContain("machine-7");
    expect(taken.info().owner).toBe("machine-7, process 4711");
  });
});

describe("a host that shuts down", () => {
  it("ends a sub-agent in memory, which no process could resume", async () => {
    const child = agentOf([hangs("So far")]);
    const session = startSession(callerOf(asTool(child)));
    void session.ask("q");
    await settledDeeply();
    await session.close();
    expect(child.llm.options[0]?.signal?.reason).toMatchObject({ name: "ShutdownError" });
  });
});

describe("what a sub-agent spends", () => {
  it("counts for its caller, in its loop and in total (K04)", async () => {
    const child = agentOf([answers("Oslo.", { usage: { inputTokens: 5, outputTokens: 2 } })]);
    const { state } = await runTask(callerOf(asTool(child)), "q");
    expect(state.usage).toMatchObject({ inputTokens: 65, outputTokens: 22 });
    expect(state.reActContext).toMatchObject({ usage: state.usage, inputTokens: 30 });
  });

  it("counts where it fails as well (K04)", async () => {
    const busy = agentOf(() => callsTools([{ name: "look" }], { usage }), [toolOf("look")], {
      limits: { maxSteps: 2 },
    });
    const { state } = await runTask(callerOf(asTool(busy)), "q");
    expect(state.usage).toMatchObject({ inputTokens: 120, outputTokens: 40 });
  });

  /** A sub-agent that would never end, under a caller with this budget. */
  const spent = async (own: AgentConfig["budget"], callers: AgentConfig["budget"]) => {
    const child = agentOf(() => callsTools([{ name: "look" }], { usage }), [toolOf("look")], {
      budget: own,
      limits: { maxSteps: 50 },
    });
    const caller = callerOf(asTool(child), { budget: callers });
    const failure = await failureOf(runTask(caller, "q"));
    return { failure, asked: child.llm.callCount, callerAsked: caller.llm.callCount };
  };

  it("is no more than its caller has left, whatever it may spend itself (K04)", async () => {
    // 40 of the 120 are gone when it is called: two of its requests use up the rest.
    expect(await spent({ maxTokens: 1_000 }, { maxTokens: 120 })).toMatchObject({
      failure: { reason: "BudgetExceeded" },
      asked: 2,
      callerAsked: 1,
    });
    expect(await spent({}, { maxTotalTokens: 80 })).toMatchObject({ asked: 1, callerAsked: 1 });
  });

  it("stays under its own limit where that is the smaller one (K04)", async () => {
    const child = agentOf(() => callsTools([{ name: "look" }], { usage }), [toolOf("look")], {
      budget: { maxTokens: 40 },
    });
    const { state } = await runTask(callerOf(asTool(child), { budget: { maxTokens: 1_000 } }), "q");
    expect(child.llm.callCount).toBe(1);
    expect(state.toolCalls["call_1"]?.result).toMatchObject({
      error: expect.stringMatching(/^AgentFailed: /),
    });
  });

  it("is limited by what it costs, too (K04)", async () => {
    const prices = { default: { input: 1_000_000, output: 0 } };
    const once = callsTools([{ name: "look" }], { usage: { inputTokens: 3, outputTokens: 0 } });
    const llm = new MockLlmCaller(() => once);
    const child = defineAgent({ llm, tools: [toolOf("look")], prices });
    const script = new MockLlmCaller([asks("researcher"), answers("never")]);
    const caller = defineAgent({
      llm: script,
      tools: [asTool(child)],
      prices,
      config: { budget: { maxCost: 36 } },
    });
    // 30 of the 36 are gone when it is called: two of its requests use up the rest.
    expect(await failureOf(runTask(caller, "q"))).toMatchObject({ reason: "BudgetExceeded" });
    expect([script.callCount, llm.callCount]).toEqual([1, 2]);
  });
});

describe("a follower of the sessions of a sub-agent", () => {
  it("gets each session before its task, with the context of the call", async () => {
    const seen: unknown[] = [];
    const tool = asTool(agentOf([answers("Oslo.")]), {
      onSession: (session, { toolCallId, attempt, loop }) =>
        seen.push([session.seq(), toolCallId, attempt, loop]),
    });
    expect(await resultOf(tool)).toMatchObject({ isSuccess: true, content: "Oslo." });
    expect(seen).toEqual([[0, "call_1", 1, 1]]);
  });

  it("that throws fails the call", async () => {
    const child = agentOf([answers("Oslo.")]);
    const tool = asTool(child, {
      onSession() {
        throw new Error("Cannot follow.");
      },
    });
    expect(await resultOf(tool)).toMatchObject({ isSuccess: false, error: "Cannot follow." });
    expect(child.llm.callCount).toBe(0);
  });

  it("knows the id of a session in a log", async () => {
    const ids: string[] = [];
    const expected: string[] = [];
    const tool = asTool(agentOf([answers("Oslo.")]), {
      log: memoryLog(),
      onSession(session, context) {
        ids.push(session.id);
        expected.push(agentToolSessionId("researcher", context));
      },
    });
    await resultOf(tool);
    expect(ids).toEqual(expected);
    expect(ids).toHaveLength(1);
  });
});
