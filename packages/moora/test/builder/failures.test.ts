import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AgentBuilder } from "../../src/builder/agent-builder.ts";
import type { AgentEngine } from "../../src/builder/agent-engine.ts";
import { TestClock } from "@moora/testbed/test-clock";
import { answer, errorOf, movesOf, stateOf, task } from "./support/runs.ts";
import { weatherIn, weatherTool } from "./support/tools.ts";

/** Runs to the end, moving the clock to each retry; gives how long each was waited for. */
async function retried(engine: AgentEngine, clock: TestClock): Promise<readonly number[]> {
  const waits: number[] = [];
  for await (const event of engine.runStreaming()) {
    if (event.type !== "LlmRetryScheduled") continue;
    waits.push(event.due - clock.now());
    clock.advanceTo(event.due);
  }
  return waits;
}

describe("a model call that fails", () => {
  it("is retried with the same request when it is due", async () => {
    const clock = new TestClock();
    const llm = new MockLlmCaller([fails("overloaded"), fails("server"), answers(answer)]);
    const engine = new AgentBuilder(task).llm(llm).build({ clock });
    expect(await retried(engine, clock)).toEqual([1_000, 2_000]);
    expect(engine.memory()).toMatchObject({ finalAnswer: answer, step: 1 });
    expect(llm.requests[1]).toEqual(llm.requests[0]);
    expect(llm.requests[2]).toEqual(llm.requests[0]);
    expect(movesOf(engine)).toEqual([
      "Idle Start Planning",
      "Planning LlmRetry Planning",
      "Planning LlmRetry Planning",
      "Planning LlmFinalAnswer Done",
    ]);
  });

  it("waits as long as the provider asks, up to the limit", async () => {
    const clock = new TestClock();
    const llm = new MockLlmCaller([
      fails("rate-limit", { retryAfterMs: 7_000 }),
      fails("rate-limit", { retryAfterMs: 60_000 }),
      answers(answer),
    ]);
    const engine = new AgentBuilder(task).llm(llm).build({ clock });
    expect(await retried(engine, clock)).toEqual([7_000, 60_000]);
  });

  it("is not retried before it is due", async () => {
    const clock = new TestClock();
    const llm = new MockLlmCaller([fails("server"), answers(answer)]);
    const engine = new AgentBuilder(task).llm(llm).build({ clock });
    for await (const event of engine.runStreaming()) {
      if (event.type !== "LlmRetryScheduled") continue;
      clock.advanceTo(event.due - 1);
      await new Promise((resolve) => setImmediate(resolve));
      expect(llm.callCount).toBe(1);
      clock.advanceTo(event.due);
    }
    expect(llm.callCount).toBe(2);
  });

  it("fails the run after its last attempt", async () => {
    const clock = new TestClock();
    const llm = new MockLlmCaller(() => fails("server", { message: "Internal error" }));
    const engine = new AgentBuilder(task).llm(llm).build({ clock });
    expect(await retried(engine, clock)).toEqual([1_000, 2_000, 4_000]);
    expect(engine.memory().error).toMatchObject({ kind: "server", message: "Internal error" });
    expect(llm.callCount).toBe(4);
  });

  it("fails the run immediately if a retry cannot help", async () => {
    const llm = new MockLlmCaller([
      callsTools([weatherIn("Oslo")], { usage: { inputTokens: 12 } }),
      fails("auth", { message: "The key was revoked.", usage: { inputTokens: 3 } }),
    ]);
    const engine = new AgentBuilder(task).llm(llm).tool(weatherTool()).build();
    const error = await errorOf(engine.run());
    expect(error).toMatchObject({
      kind: "LlmError",
      reason: "auth",
      message: "The key was revoked.",
      usage: { inputTokens: 15 },
    });
    expect(llm.callCount).toBe(2);
    expect(error.trace.entries.map(({ event }) => event)).toEqual([
      "Start",
      "LlmToolCall",
      "ToolSuccess",
      "Continue",
      "FatalError",
    ]);
    expect(stateOf(error).toolCalls["call_1"]?.result?.isSuccess).toBe(true);
  });

  it("summarizes the history when the provider reports that it is too long", async () => {
    const llm = new MockLlmCaller([
      callsTools([weatherIn("Oslo")]),
      callsTools([weatherIn("Bergen")]),
      fails("context-length"),
      answers("Oslo has 3 degrees."),
      answers(answer),
    ]);
    const engine = new AgentBuilder(task).llm(llm).tool(weatherTool()).build();
    expect(await engine.run()).toBe(answer);
    expect(llm.requests.map(({ purpose }) => purpose)).toEqual(["plan", "plan", "plan", "reflect", "plan"]);
    expect(movesOf(engine)).toContain("Planning ContextExceeded Reflecting");
  });
});

it("the error of an engine names the code that ran it", async () => {
  const engine = new AgentBuilder(task).llm(new MockLlmCaller([fails("auth")])).build();
  const answerOrder = (): Promise<string> => engine.run();
  expect((await errorOf(answerOrder())).stack).toContain("answerOrder");
});
