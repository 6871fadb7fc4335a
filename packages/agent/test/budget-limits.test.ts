import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import {
  BuildError,
  defineAgent,
  openSession,
  readSession,
  runTask,
  startSession,
  verifySession,
  type AgentConfigChange,
  type LogEntry,
} from "../src/index.ts";
import { failureOf, toolOf } from "./support.ts";

const usage = { usage: { inputTokens: 40, outputTokens: 10 } };

/** A model that calls a tool in each of so many turns, and then answers. */
const steps =
  (count: number): MockScript =>
  ({ messages }) =>
    messages.filter(({ role }) => role === "assistant").length < count
      ? callsTools([{ name: "look" }], usage)
      : answers("done", usage);

const agentOf = (count: number, budget: AgentConfigChange["budget"]) => {
  const llm = new MockLlmCaller(steps(count));
  return { llm, agent: defineAgent({ llm, tools: [toolOf("look")], config: { budget: budget ?? {} } }) };
};

/** The notes of each request. */
const notesOf = (llm: MockLlmCaller): readonly number[] =>
  llm.requests.map(({ messages }) => JSON.stringify(messages).split("nearly spent").length - 1);

describe("a limit of one kind of tokens", () => {
  it.each([
    ["input", { maxInputTokens: 100 }, 3, "budget.maxInputTokens is 100, and the loop has used 120."],
    ["output", { maxOutputTokens: 20 }, 2, "budget.maxOutputTokens is 20, and the loop has used 20."],
  ])("ends a loop that has used its %s tokens, with the limit", async (_, budget, calls, message) => {
    const { llm, agent } = agentOf(9, budget);
    expect(await failureOf(runTask(agent, "go"))).toMatchObject({
      reason: "BudgetExceeded",
      message: expect.stringContaining(`The budget is spent. ${message}`),
    });
    expect(llm.callCount).toBe(calls);
  });

  it("limits an answer to the output tokens that are left", async () => {
    const { llm, agent } = agentOf(1, { maxOutputTokens: 100 });
    await runTask(agent, "go");
    expect(llm.requests.map(({ settings }) => settings.maxOutputTokens)).toEqual([100, 90]);
  });

  it("is checked where the agent is defined", () => {
    expect(() => agentOf(1, { maxInputTokens: 0 })).toThrow("config.budget.maxInputTokens");
    expect(() => agentOf(1, { maxTokens: 100, warnAt: 1.5 })).toThrow("config.budget.warnAt");
  });
});

describe("a budget under a provider that does not report its usage", () => {
  /** Each request has more than 1,000 characters. */
  const silent = (purposes: AgentConfigChange = {}) => {
    const llm = new MockLlmCaller(() => ({ ...callsTools([{ name: "look" }]), usageMissing: true }));
    return { llm, agent: defineAgent({ llm, tools: [toolOf("look")], config: purposes }) };
  };
  const task = "go ".repeat(400);

  it("counts an estimate by the sizes of requests and answers, so that the loop ends", async () => {
    const { llm, agent } = silent({ budget: { maxTokens: 2_000 }, limits: { maxSteps: 50 } });
    expect(await failureOf(runTask(agent, task))).toMatchObject({ reason: "BudgetExceeded" });
    expect(llm.callCount).toBeLessThan(8);
  });

  it("warns with the first call, as an event and as a log entry", async () => {
    const { agent } = silent({ limits: { maxSteps: 1 } });
    const entries: LogEntry[] = [];
    const warnings: string[] = [];
    const run = runTask(agent, task, { onLog: (entry) => entries.push(entry) });
    const failed = failureOf(run);
    for await (const event of run) if (event.type === "LlmWarning") warnings.push(event.text);
    await failed;
    expect(warnings).toEqual([
      expect.stringMatching(/did not report its usage\. About \d+ tokens are counted/),
    ]);
    expect(entries).toMatchObject([
      {
        level: "warn",
        code: "usage-estimated",
        data: { key: "plan/1/1/1", inputTokens: expect.any(Number) },
      },
    ]);
  });

  it("records the estimate with the answer, so that a replay counts the same", async () => {
    const { agent } = silent({ limits: { maxSteps: 2 } });
    const log = memoryLog();
    const session = await openSession(agent, { log, id: "s" });
    await failureOf(session.ask(task));
    const counted = session.current().usage.inputTokens;
    await session.close();
    const { inputs } = await readSession(log, "s");
    const reports = inputs.flatMap((input) => (input.type === "re-act-observed" ? [input.usage] : []));
    expect(reports).toEqual([
      expect.objectContaining({ estimated: true }),
      expect.objectContaining({ estimated: true }),
    ]);
    expect(counted).toBe(reports.reduce((sum, report) => sum + (report?.inputTokens ?? 0), 0));
    expect(await verifySession(log, "s")).toMatchObject({ ok: true });
  });
});

describe("a budget with warnAt", () => {
  it("lets the model read once in a loop that it has to finish", async () => {
    const { llm, agent } = agentOf(4, { maxTokens: 300, warnAt: 0.5 });
    await runTask(agent, "go");
    expect(notesOf(llm)).toEqual([0, 0, 0, 1, 1]);
  });

  it.each([
    ["input", { maxInputTokens: 100 }],
    ["output", { maxOutputTokens: 25 }],
    ["total", { maxTotalTokens: 125 }],
  ])("watches the limit of %s tokens", async (_, budget) => {
    const { llm, agent } = agentOf(1, { ...budget, warnAt: 0.4 });
    await runTask(agent, "go");
    expect(notesOf(llm)).toEqual([0, 1]);
  });

  it("needs a limit, also in a changed configuration", async () => {
    const message =
      "config.budget.warnAt is a part of a limit, and config.budget has no limit. Add one, such as maxTokens.";
    expect(() => agentOf(1, { warnAt: 0.1 })).toThrow(new BuildError(message));
    await using session = startSession(agentOf(1, { maxTokens: 100 }).agent);
    await expect(session.configure({ budget: { warnAt: 0.1 } })).rejects.toThrow(new BuildError(message));
  });
});
