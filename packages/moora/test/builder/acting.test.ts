import { ToolRegistry } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import type { AgentBuilder } from "../../src/builder/agent-builder.ts";
import { answer, errorOf, hybridBuilder, movesOf, resultsIn, task } from "./support/runs.ts";
import { weatherTool } from "./support/tools.ts";

/** A builder with a model that makes these calls in one turn, and then answers. */
function calling(...calls: Parameters<typeof callsTools>[0]): { llm: MockLlmCaller; builder: AgentBuilder } {
  const llm = new MockLlmCaller([callsTools(calls), answers(answer)]);
  return { llm, builder: hybridBuilder(task).llm(llm) };
}

describe("calls that fail", () => {
  it("acting_unknown_tool_is_failure_not_crash", async () => {
    const { llm, builder } = calling({ name: "wether", arguments: { city: "Oslo" } });
    const engine = builder.tool(weatherTool()).build();
    expect(await engine.run()).toBe(answer);
    expect(engine.memory().lastObservation).toMatch(
      /^ERROR: unknown-tool: There is no tool wether\. There are: weather\./,
    );
    expect(resultsIn(llm.requests[1])).toEqual([
      { isError: true, content: "There is no tool wether. There are: weather." },
    ]);
    expect(movesOf(engine)).toContain("Acting ToolFailure Observing");
  });
});

describe("the tool registry", () => {
  it("tool_registry_execute_unknown_returns_err", async () => {
    const registry = new ToolRegistry().register(weatherTool());
    expect(await errorOf(registry.execute("wether", "{}"))).toMatchObject({
      kind: "ToolError",
      reason: "unknown-tool",
    });
    expect(await errorOf(registry.execute("weather", "{}"))).toMatchObject({
      kind: "ToolError",
      reason: "invalid-arguments",
    });
    expect(await registry.execute("weather", '{"city":"Oslo"}')).toBe('{"city":"Oslo","celsius":3}');
  });
});
