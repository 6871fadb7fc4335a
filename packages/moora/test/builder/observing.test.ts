import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import type { LlmOutcome } from "@moora/llm";
import { describe, expect, it } from "vitest";
import { answer, hybridBuilder, movesOf, resultsIn, task } from "./support/runs.ts";
import { weatherIn, weatherTool } from "./support/tools.ts";

const cities = ["Oslo", "Rome", "Lima", "Cairo", "Quito"];
const summary = "All five cities were asked; Oslo has 3 degrees.";

/** A model that asks for one city a step, sums up when it is asked to, and then answers. */
const modelOfTrip = (reflection: LlmOutcome = answers(summary)): MockLlmCaller =>
  new MockLlmCaller((request, call) => {
    if (request.purpose === "reflect") return reflection;
    const city = cities[call];
    return city === undefined ? answers(answer) : callsTools([weatherIn(city)]);
  });

describe("the history of a step", () => {
  it("observing_commits_to_history", async () => {
    const llm = new MockLlmCaller([
      callsTools([weatherIn("Oslo")], { text: "I look it up." }),
      answers(answer),
    ]);
    const engine = hybridBuilder(task).llm(llm).tool(weatherTool()).build();
    await engine.run();
    expect(engine.memory()).toMatchObject({
      task,
      step: 2,
      lastObservation: 'SUCCESS: {"city":"Oslo","celsius":3}',
      finalAnswer: answer,
      history: [
        {
          step: 1,
          thought: "I look it up.",
          calls: [
            {
              name: "weather",
              parameters: '{"city":"Oslo"}',
              observation: 'SUCCESS: {"city":"Oslo","celsius":3}',
            },
          ],
        },
      ],
    });
    expect(resultsIn(llm.requests[1])).toEqual([{ isError: false, content: '{"city":"Oslo","celsius":3}' }]);
  });
});

describe("reflection", () => {
  it("observing_triggers_reflection_at_step_5", async () => {
    const llm = modelOfTrip();
    const engine = hybridBuilder(task).llm(llm).tool(weatherTool()).build();
    expect(await engine.run()).toBe(answer);
    expect(llm.requests.map(({ purpose }) => purpose)).toEqual([
      ...Array.from({ length: 5 }, () => "plan"),
      "reflect",
      "plan",
    ]);
    expect(movesOf(engine).slice(-4)).toEqual([
      "Acting ToolSuccess Observing",
      "Observing NeedsReflection Reflecting",
      "Reflecting ReflectDone Planning",
      "Planning LlmFinalAnswer Done",
    ]);
  });
});
