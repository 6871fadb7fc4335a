import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import type { LlmOutcome, LlmRequest } from "@moora/llm";
import { describe, expect, it } from "vitest";
import { answer, hybridBuilder, movesOf, notesIn, resultsIn, task } from "./support/runs.ts";
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

const textOf = (request: LlmRequest | undefined): string =>
  (request?.messages ?? [])
    .flatMap((message) => (message.role === "user" ? message.content : []))
    .map((content) => (content.type === "text" ? content.text : ""))
    .join("\n");

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

  it("keeps the facts: the model summarizes the task and every call, and continues from the summary", async () => {
    const llm = modelOfTrip();
    const engine = hybridBuilder(task)
      .llm(llm)
      .tool(weatherTool())
      .model("big")
      .modelFor("reflect", "small")
      .build();
    await engine.run();
    const [reflection, next] = [llm.requests[5], llm.requests[6]];
    expect(reflection).toMatchObject({ purpose: "reflect", model: "small", tools: [] });
    const [head, history = ""] = textOf(reflection).split("\n\nHistory:\n");
    expect(head).toBe(
      `Summarize the following tool call history into a single concise paragraph that preserves all key facts, findings, and data needed to continue the task.\n\nTask: ${task}`,
    );
    expect(JSON.parse(history)).toEqual([
      { user: task },
      ...cities.map((city, index) => ({
        toolCallId: `call_${index + 1}`,
        name: "weather",
        parameters: JSON.stringify({ city }),
        observation: `SUCCESS: {"city":"${city}","celsius":3}`,
        success: true,
      })),
    ]);
    expect(next?.model).toBe("big");
    expect(textOf(next)).toBe(task);
    expect(notesIn(next)).toEqual([`Summary of the work so far: ${summary}`]);
    expect(resultsIn(next)).toHaveLength(1);
    expect(engine.memory().history).toHaveLength(5);
    expect(engine.memory().trace.entries).toEqual(engine.trace().entries);
  });

  it("that fails keeps the history", async () => {
    const llm = modelOfTrip(fails("server"));
    const engine = hybridBuilder(task).llm(llm).tool(weatherTool()).build();
    expect(await engine.run()).toBe(answer);
    expect(resultsIn(llm.requests[6])).toHaveLength(5);
  });

  it("lets the model load a result again that the summary hides", async () => {
    const script = modelOfTrip();
    const llm = new MockLlmCaller((request, call) => {
      if (call === 6) return callsTools([{ name: "load_tool_results", arguments: { ids: ["call_2"] } }]);
      return script.callSync(request);
    });
    const engine = hybridBuilder(task).llm(llm).tool(weatherTool()).build();
    expect(await engine.run()).toBe(answer);
    expect(llm.requests[6]?.tools.map(({ name }) => name)).toContain("load_tool_results");
    expect(resultsIn(llm.requests[7])).toContainEqual({
      isError: false,
      content: '{"city":"Rome","celsius":3}',
    });
    expect(movesOf(engine)).toContain("Planning ContextChanged Planning");
  });

  it("can be turned off", async () => {
    const llm = modelOfTrip();
    await hybridBuilder(task)
      .llm(llm)
      .tool(weatherTool())
      .config({ reflection: { everyNSteps: 0 } })
      .build()
      .run();
    expect(llm.requests.map(({ purpose }) => purpose)).not.toContain("reflect");
    expect(llm.callCount).toBe(6);
  });
});
