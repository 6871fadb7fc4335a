import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { AgentEngine } from "../../src/builder/agent-engine.ts";
import { answer, hybridBuilder, movesOf, task } from "./support/runs.ts";
import { weatherIn, weatherTool } from "./support/tools.ts";

function twoCities(): { llm: MockLlmCaller; asked: readonly string[]; engine: AgentEngine } {
  const asked: string[] = [];
  const usage = { inputTokens: 10, outputTokens: 2 };
  const llm = new MockLlmCaller([
    callsTools([weatherIn("Oslo")], { usage }),
    callsTools([weatherIn("Rome")], { usage }),
    answers(answer, { usage }),
  ]);
  return { llm, asked, engine: hybridBuilder(task).llm(llm).tool(weatherTool(asked)).build() };
}

const user = { role: "user", content: [{ type: "text", text: task }] };
const turn = (id: string, city: string): object => ({
  role: "assistant",
  turn: {
    origin: "mock",
    parts: [{ type: "tool-call", id, name: "weather", arguments: JSON.stringify({ city }) }],
  },
  results: [{ isError: false, content: JSON.stringify({ city, celsius: 3 }) }],
});

afterEach(() => void vi.restoreAllMocks());

describe("a whole run", () => {
  it("full_run_with_mock_llm: two tool calls, then an answer", async () => {
    const { llm, asked, engine } = twoCities();
    expect(await engine.run()).toBe(answer);
    expect(asked).toEqual(["Oslo", "Rome"]);
    expect(llm.requests.map(({ messages }) => messages)).toEqual([
      [user],
      [user, turn("call_1", "Oslo")],
      [user, turn("call_1", "Oslo"), turn("call_2", "Rome")],
    ]);
  });

  it("full_run_reaches_done_state", async () => {
    const { engine } = twoCities();
    await engine.run();
    expect(engine.currentState()).toBe("Done");
    expect(engine.memory()).toMatchObject({ state: "Done", finalAnswer: answer, error: null, step: 3 });
    expect(engine.memory().totalUsage).toMatchObject({ inputTokens: 30, outputTokens: 6 });
  });

  it("mock_llm_call_count", async () => {
    const { llm, engine } = twoCities();
    expect(llm.callCount).toBe(0);
    await engine.run();
    expect(llm.callCount).toBe(3);
  });
});

describe("the trace of a run", () => {
  it("trace_records_all_steps", async () => {
    const { engine } = twoCities();
    expect(engine.trace()).toHaveLength(0);
    await engine.run();
    expect(movesOf(engine)).toEqual([
      "Idle Start Planning",
      "Planning LlmToolCall Acting",
      "Acting ToolSuccess Observing",
      "Observing Continue Planning",
      "Planning LlmToolCall Acting",
      "Acting ToolSuccess Observing",
      "Observing Continue Planning",
      "Planning LlmFinalAnswer Done",
    ]);
    const trace = engine.trace();
    expect(trace.forState("Planning").map(({ step }) => step)).toEqual([1, 2, 3]);
    expect(JSON.parse(JSON.stringify(trace))).toEqual(trace.entries);
  });

  it("is written once by print, which returns nothing, and returned by toText, which writes nothing", async () => {
    const { engine } = twoCities();
    await engine.run();
    const log = vi.spyOn(console, "log").mockReturnValue(undefined);
    const table = engine.trace().toText();
    expect(log).not.toHaveBeenCalled();
    expect(engine.trace().print()).toBeUndefined();
    expect(log.mock.calls).toEqual([[table]]);
    expect(table.split("\n")).toHaveLength(10);
    expect(table.split("\n")[2]).toMatch(/^1 +1 +\d+ +Idle +Start +Planning$/);
  });
});
