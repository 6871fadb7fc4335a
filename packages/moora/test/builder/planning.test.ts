import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import {
  answer,
  errorOf,
  eventNamesOf,
  hybridBuilder,
  movesOf,
  notesIn,
  resultsIn,
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
});

describe("turns of low quality", () => {
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
});
