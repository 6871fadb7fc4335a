import { defineTool, type AgentEvent } from "@moora/agent";
import { answers, callsTools, fails, hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { AgentBuilder } from "../../src/builder/agent-builder.ts";
import { TestClock } from "@moora/testbed/test-clock";
import { answer, errorOf, eventsOf, movesOf, stateOf, task } from "./support/runs.ts";
import { weatherIn, weatherTool } from "./support/tools.ts";

/** Events in short: states by name, adjacent tokens as one text. */
function eventTexts(events: readonly AgentEvent[]): readonly string[] {
  const lines: string[] = [];
  let text = "";
  for (const event of events) {
    if (event.type === "LlmToken") text += event.text;
    else {
      if (text !== "") lines.push(`text ${text}`);
      text = "";
      lines.push(event.type === "StateStarted" ? `state ${event.state}` : event.type);
    }
  }
  return lines;
}

describe("the events of a run", () => {
  it("report everything in order", async () => {
    const llm = new MockLlmCaller([
      callsTools([weatherIn("Oslo")], { text: "I look it up.", reasoning: "Which city?" }),
      answers(answer),
    ]);
    const engine = new AgentBuilder(task).llm(llm).tool(weatherTool()).build();
    const events = await eventsOf(engine);
    expect(eventTexts(events)).toEqual([
      "state Planning",
      "LlmReasoning",
      "LlmReasoning",
      "LlmPartEnded",
      "text I look it up.",
      "LlmPartEnded",
      "LlmToolCall",
      "LlmToolCallDelta",
      "LlmToolCallDelta",
      "LlmPartEnded",
      "state Acting",
      "ToolCallStarted",
      "ToolCallFinished",
      "state Observing",
      "state Planning",
      `text ${answer}`,
      "LlmPartEnded",
      "state Done",
      "FinalAnswer",
    ]);
    expect(events.find((event) => event.type === "ToolCallFinished")).toMatchObject({
      toolCallId: "call_1",
      name: "weather",
      result: { isSuccess: true, content: '{"city":"Oslo","celsius":3}' },
    });
    expect(events.at(-1)).toEqual({ type: "FinalAnswer", answer, text: answer });
  });

  it("end in an error with state, usage and trace", async () => {
    const llm = new MockLlmCaller([fails("refusal", { message: "No." })]);
    const events = await eventsOf(new AgentBuilder(task).llm(llm).build());
    expect(events.at(-1)).toMatchObject({
      type: "Error",
      error: { kind: "LlmError", reason: "refusal", trace: { length: 2 } },
    });
  });

  it("start the run with the first one", async () => {
    const llm = new MockLlmCaller([answers(answer)]);
    const engine = new AgentBuilder(task).llm(llm).build();
    const events = engine.runStreaming();
    expect(engine.currentState()).toBe("Idle");
    expect(await events.next()).toMatchObject({ value: { type: "StateStarted", state: "Planning" } });
    expect(engine.currentState()).toBe("Planning");
    await events.return();
  });

  it("stop when the consumer leaves, and the run is canceled", async () => {
    const llm = new MockLlmCaller([hangs("Let me think. ")]);
    const engine = new AgentBuilder(task).llm(llm).build();
    for await (const event of engine.runStreaming()) if (event.type === "LlmToken") break;
    expect(engine.memory().error).toMatchObject({ kind: "Cancelled" });
    expect(llm.options[0]?.signal?.aborted).toBe(true);
  });
});

describe("a cancel", () => {
  it("in the middle of a stream keeps the text so far", async () => {
    const llm = new MockLlmCaller([hangs("Let me think. ")]);
    const engine = new AgentBuilder(task).llm(llm).build();
    const events: AgentEvent[] = [];
    for await (const event of engine.runStreaming()) {
      events.push(event);
      if (event.type === "LlmToken" && event.text.includes("think")) engine.cancel("Never mind.");
    }
    const last = events.at(-1);
    if (last?.type !== "Error") throw new Error("This run was cancelled.");
    expect(last.error).toMatchObject({ kind: "Cancelled", message: "Never mind." });
    expect(stateOf(last.error).messages).toMatchObject([
      { role: "user", content: task },
      { role: "assistant", content: "Let me think. ", streaming: false, status: "cut" },
    ]);
    expect(llm.options[0]?.signal?.aborted).toBe(true);
  });

  it("while a tool runs aborts its signal, and its call has one result", async () => {
    const clock = new TestClock();
    let aborted: unknown;
    const slow = defineTool({
      name: "slow",
      description: "Stops when it is aborted.",
      input: z.object({}),
      execute: (_, { signal }) => {
        engine.cancel("Enough.");
        return new Promise((_resolve, reject) => {
          aborted = signal.aborted;
          reject(new Error("stopped"));
        });
      },
    });
    const llm = new MockLlmCaller([callsTools([{ name: "slow" }])]);
    const engine = new AgentBuilder(task).llm(llm).tool(slow).build({ clock });
    const error = await errorOf(engine.run());
    expect(error).toMatchObject({ kind: "Cancelled", message: "Enough." });
    expect(aborted).toBe(true);
    expect(stateOf(error).toolCalls["call_1"]?.result).toMatchObject({
      isSuccess: false,
      code: "cancelled-after-start",
      says: ["cancelledAfterStart"],
    });
    expect(clock.waiting).toBe(0);
    expect(movesOf(engine).at(-1)).toBe("Acting Cancelled Error");
  });

  it("during the wait for a retry cancels the wait", async () => {
    const clock = new TestClock();
    const llm = new MockLlmCaller([fails("server")]);
    const engine = new AgentBuilder(task).llm(llm).build({ clock });
    for await (const event of engine.runStreaming()) if (event.type === "LlmRetryScheduled") engine.cancel();
    expect(engine.memory().error?.kind).toBe("Cancelled");
    expect(clock.waiting).toBe(0);
    expect(llm.callCount).toBe(1);
  });

  it("before and after a run does nothing", async () => {
    const engine = new AgentBuilder(task).llm(new MockLlmCaller([answers(answer)])).build();
    engine.cancel();
    expect(await engine.run()).toBe(answer);
    engine.cancel();
    expect(engine.currentState()).toBe("Done");
  });
});
