import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import {
  answer,
  errorOf,
  eventNamesOf,
  hybridBuilder,
  movesOf,
  notesIn,
  resultsIn,
  stateOf,
  task,
} from "./support/runs.ts";
import { deleteTool, deletion, weatherIn, weatherTool } from "./support/tools.ts";

describe("the beginning of a run", () => {
  it("idle_to_planning_transition", async () => {
    const engine = hybridBuilder(task)
      .llm(new MockLlmCaller([answers(answer)]))
      .build();
    expect(engine.currentState()).toBe("Idle");
    await engine.run();
    expect(engine.trace().entries[0]).toMatchObject({ from: "Idle", event: "Start", to: "Planning" });
  });
});

const forever = (): MockLlmCaller => new MockLlmCaller(() => callsTools([weatherIn("Oslo")]));

describe("the limits of planning", () => {
  it("planning_max_steps_guard", async () => {
    const engine = hybridBuilder(task).llm(forever()).tool(weatherTool()).maxSteps(1).build();
    const error = await errorOf(engine.run());
    expect(error).toMatchObject({ kind: "AgentFailed", reason: "MaxSteps" });
    expect(engine.trace().entries.at(-1)).toMatchObject({ from: "Planning", event: "MaxSteps", to: "Error" });
  });

  it("agent_config_respected: maxSteps 2 fails with MaxSteps after exactly two model calls", async () => {
    const llm = forever();
    const engine = hybridBuilder(task)
      .llm(llm)
      .tool(weatherTool())
      .config({ limits: { maxSteps: 2 } })
      .build();
    expect(await errorOf(engine.run())).toMatchObject({ kind: "AgentFailed", reason: "MaxSteps" });
    expect(llm.callCount).toBe(2);
    expect(engine.memory().step).toBe(2);
  });

  it("asks the model on its last step to answer without tools", async () => {
    const llm = new MockLlmCaller([callsTools([weatherIn("Oslo")]), answers(answer)]);
    const engine = hybridBuilder(task).llm(llm).tool(weatherTool()).maxSteps(2).build();
    expect(await engine.run()).toBe(answer);
    expect(llm.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "none"]);
    expect(notesIn(llm.requests[1])).toEqual([expect.stringContaining("last step")]);
  });

  it("stops an endless loop of tools at maxSteps, not at the safety cap", async () => {
    const llm = forever();
    const engine = hybridBuilder(task)
      .llm(llm)
      .tool(weatherTool())
      .config({ limits: { maxSteps: 200, maxRepeatedCalls: 0 }, reflection: { everyNSteps: 0 } })
      .build();
    expect(await errorOf(engine.run())).toMatchObject({ kind: "AgentFailed", reason: "MaxSteps" });
    expect(llm.callCount).toBe(200);
    expect(eventNamesOf(engine)).not.toContain("SafetyCapExceeded");
  });

  it("counts the tokens of every call, and fails when the budget is spent", async () => {
    const usage = { inputTokens: 40, outputTokens: 10 };
    const llm = new MockLlmCaller(() => callsTools([weatherIn("Oslo")], { usage }));
    const engine = hybridBuilder(task).llm(llm).tool(weatherTool()).maxTokens(150).build();
    const error = await errorOf(engine.run());
    expect(error).toMatchObject({
      kind: "AgentFailed",
      reason: "BudgetExceeded",
      usage: { inputTokens: 120 },
    });
    expect(llm.callCount).toBe(3);
  });

  it("counts the tokens of interrupted streams", async () => {
    const llm = new MockLlmCaller([
      fails("interrupted", { partial: "It is", usage: { inputTokens: 90, outputTokens: 30 } }),
      callsTools([weatherIn("Oslo")], { usage: { inputTokens: 20, outputTokens: 10 } }),
      answers(answer),
    ]);
    const engine = hybridBuilder(task)
      .llm(llm)
      .tool(weatherTool())
      .maxTokens(150)
      .config({ retries: { delayMs: 0 } })
      .build();
    const error = await errorOf(engine.run());
    expect(error.reason).toBe("BudgetExceeded");
    expect(error.usage).toMatchObject({ inputTokens: 110, outputTokens: 40 });
    expect(llm.callCount).toBe(2);
  });
});

describe("the tools that a plan may call", () => {
  it("planning_tool_blacklist", async () => {
    const deleted: string[] = [];
    const llm = new MockLlmCaller([callsTools([deletion("/")]), answers(answer)]);
    const engine = hybridBuilder(task)
      .llm(llm)
      .tool(deleteTool(deleted))
      .blacklistTool("delete_file")
      .build();
    expect(await engine.run()).toBe(answer);
    expect(deleted).toEqual([]);
    expect(movesOf(engine)).toContain("Planning ToolBlacklisted Planning");
    expect(resultsIn(llm.requests[1])).toEqual([
      { isError: true, content: "The tool delete_file is not allowed here and was not run." },
    ]);
  });

  it("rejects the blacklisted call of a batch and runs the others", async () => {
    const [deleted, asked]: [string[], string[]] = [[], []];
    const llm = new MockLlmCaller([
      callsTools([weatherIn("Oslo"), deletion("/"), weatherIn("Rome")]),
      answers(answer),
    ]);
    const engine = hybridBuilder(task)
      .llm(llm)
      .tool(weatherTool(asked))
      .tool(deleteTool(deleted))
      .blacklistTool("delete_file")
      .build();
    await engine.run();
    expect([deleted, asked]).toEqual([[], ["Oslo", "Rome"]]);
    expect(movesOf(engine)).toContain("Planning LlmParallelToolCalls ParallelActing");
    expect(resultsIn(llm.requests[1]).map(({ isError }) => isError)).toEqual([false, true, false]);
  });
});

describe("turns of low quality", () => {
  it("drops a turn of low confidence, gives the reason, and asks again", async () => {
    const llm = new MockLlmCaller([
      answers("It may be warm, who knows?", { confidence: 0.1 }),
      answers(answer, { confidence: 0.9 }),
    ]);
    const engine = hybridBuilder(task).llm(llm).build();
    expect(await engine.run()).toBe(answer);
    expect(movesOf(engine)).toContain("Planning LowConfidence Reflecting");
    expect(JSON.stringify(llm.requests[1])).not.toContain("who knows");
    expect(notesIn(llm.requests[1])).toEqual([expect.stringContaining("0.10, is below 0.40")]);
    expect(engine.memory()).toMatchObject({ retryCount: 1, confidenceScore: 0.9 });
  });

  it("accepts a turn of low confidence after the last retry", async () => {
    const llm = new MockLlmCaller(() => answers(answer, { confidence: 0.1 }));
    const engine = hybridBuilder(task)
      .llm(llm)
      .config({ retries: { maxAnswerRetries: 2 } })
      .build();
    expect(await engine.run()).toBe(answer);
    expect(llm.callCount).toBe(3);
  });

  it("asks for more if an answer is too short, until the last retry", async () => {
    const llm = new MockLlmCaller(() => answers("Yes."));
    const engine = hybridBuilder(task).llm(llm).build();
    expect(await engine.run()).toBe("Yes.");
    expect(eventNamesOf(engine)).toEqual([
      "Start",
      "AnswerTooShort",
      "AnswerTooShort",
      "AnswerTooShort",
      "LlmFinalAnswer",
    ]);
    expect(notesIn(llm.requests[1])).toEqual([expect.stringContaining("at least 20 characters")]);
  });

  it("runs no call of a turn that was cut off", async () => {
    const asked: string[] = [];
    const llm = new MockLlmCaller([
      callsTools([weatherIn("Oslo"), weatherIn("Rome")], { finish: "length" }),
      answers(answer),
    ]);
    const engine = hybridBuilder(task).llm(llm).tool(weatherTool(asked)).build();
    expect(await engine.run()).toBe(answer);
    expect(asked).toEqual([]);
    expect(resultsIn(llm.requests[1])).toEqual([
      { isError: true, content: expect.stringContaining("cut off") },
      { isError: true, content: expect.stringContaining("cut off") },
    ]);
  });

  it("fails at the third consecutive cut turn", async () => {
    const llm = new MockLlmCaller(() => callsTools([weatherIn("Oslo")], { finish: "length" }));
    const engine = hybridBuilder(task).llm(llm).tool(weatherTool()).build();
    const error = await errorOf(engine.run());
    expect(error).toMatchObject({ kind: "AgentFailed", reason: "Truncated" });
    expect(llm.callCount).toBe(3);
    expect(Object.values(stateOf(error).toolCalls).map(({ result }) => result?.isSuccess)).toEqual([
      false,
      false,
      false,
    ]);
  });
});
