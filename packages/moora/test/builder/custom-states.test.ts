import { memoryAt } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import type { AgentBuilder } from "../../src/builder/agent-builder.ts";
import { answer, errorOf, hybridBuilder, movesOf, stateOf, task } from "./support/runs.ts";
import { weatherIn, weatherTool } from "./support/tools.ts";

const answering = (): MockLlmCaller => new MockLlmCaller(() => answers(answer));

const reviewed = (handler: Parameters<AgentBuilder["state"]>[1]): AgentBuilder =>
  hybridBuilder(task)
    .llm(answering())
    .state("Review", handler)
    .transition("Planning", "LlmFinalAnswer", "Review")
    .transition("Review", "Publish", "Published")
    .transition("Review", "Revise", "Planning")
    .terminalState("Published");

describe("a custom state", () => {
  it("runs between the answer and the end", async () => {
    const seen: string[] = [];
    const engine = reviewed((state) => {
      seen.push(memoryAt(state).state);
      return "Publish";
    }).build();
    expect(await engine.run()).toBe(answer);
    expect(seen).toEqual(["Review"]);
    expect(engine.currentState()).toBe("Published");
    expect(movesOf(engine)).toEqual([
      "Idle Start Planning",
      "Planning LlmFinalAnswer Review",
      "Review Publish Published",
    ]);
  });

  it("may add a note to the trace, with data", async () => {
    const note = { text: "Approved.", data: { reviewer: 2 } };
    const engine = reviewed(() => ({ event: "Publish", trace: note })).build();
    expect(await engine.run()).toBe(answer);
    expect(engine.trace().entries.map((entry) => entry.note)).toEqual([undefined, undefined, note]);
  });

  it("may stand around a built-in one", async () => {
    const seen: string[] = [];
    const engine = hybridBuilder(task)
      .llm(answering())
      .state("Planning", { before: (_, { event }) => void seen.push(event) })
      .build();
    expect(await engine.run()).toBe(answer);
    expect(seen).toEqual(["Start"]);
  });

  it("may be left out of the table, with its rows", async () => {
    const engine = hybridBuilder(task)
      .llm(new MockLlmCaller([answers("Short."), answers(answer)]))
      .transition("Planning", "AnswerTooShort", null)
      .build();
    expect(await errorOf(engine.run())).toMatchObject({ kind: "InvalidTransition" });
  });

  it("keeps a replay policy that is given by config", () => {
    const graph = { states: [], rows: {}, terminals: [], replay: { Review: "safe" } } as const;
    const { agent } = reviewed(() => "Publish")
      .config({ graph })
      .build();
    expect(agent.config.graph.replay).toEqual({ Review: "safe" });
  });

  it("declares its replay policy with its handler", () => {
    const { agent } = reviewed({ handle: () => "Publish", replay: "safe" }).build();
    expect(agent.config.graph.replay).toEqual({ Review: "safe" });
  });

  it("may replace a built-in end", async () => {
    const engine = hybridBuilder(task)
      .llm(new MockLlmCaller(() => callsTools([weatherIn("Oslo")], { text: "I still look." })))
      .tool(weatherTool())
      .maxSteps(2)
      .transition("Planning", "MaxSteps", "OutOfSteps")
      .terminalState("OutOfSteps")
      .build();
    expect(await engine.run()).toBe("I still look.");
    expect(engine.currentState()).toBe("OutOfSteps");
  });
});

describe("an invalid graph", () => {
  it("invalid_transition_returns_error", async () => {
    const engine = reviewed(() => "Approve").build();
    const error = await errorOf(engine.run());
    expect(error).toMatchObject({
      kind: "InvalidTransition",
      message: expect.stringMatching(/Approve.*Review/),
    });
    expect(stateOf(error).reActContext.control).toMatchObject({
      failure: { from: "Review", event: "Approve" },
    });
    expect(engine.currentState()).toBe("Error");
  });
});
