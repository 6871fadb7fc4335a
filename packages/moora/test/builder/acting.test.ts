import { defineTool, ToolRegistry, toolReply, type Tool } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { AgentBuilder } from "../../src/builder/agent-builder.ts";
import { TestClock } from "@moora/testbed/test-clock";
import { answer, errorOf, hybridBuilder, movesOf, resultsIn, task } from "./support/runs.ts";
import { weatherIn, weatherTool } from "./support/tools.ts";

const nothing = z.object({});

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

  it.each(["toString", "constructor", "__proto__", "hasOwnProperty"])(
    "treats %s as an unknown tool",
    async (name) => {
      const { llm, builder } = calling({ name, arguments: {} });
      expect(await builder.tool(weatherTool()).build().run()).toBe(answer);
      expect(resultsIn(llm.requests[1])).toMatchObject([{ isError: true }]);
    },
  );

  it("do not run with invalid arguments, and report them to the model", async () => {
    const asked: string[] = [];
    const { llm, builder } = calling(
      { name: "weather", arguments: { city: 7 } },
      { name: "weather", arguments: '{"city": "Oslo"' },
    );
    await builder.tool(weatherTool(asked)).build().run();
    expect(asked).toEqual([]);
    expect(resultsIn(llm.requests[1])).toEqual([
      { isError: true, content: expect.stringMatching(/^city: /) },
      { isError: true, content: expect.stringContaining("not valid JSON") },
    ]);
  });

  it("report an exception and a result that is not JSON to the model", async () => {
    const throwing = defineTool({
      name: "throwing",
      description: "Throws.",
      input: nothing,
      execute() {
        throw new Error("The disk is full.");
      },
    });
    const endless = defineTool({
      name: "endless",
      description: "Gives a number that JSON does not know.",
      input: nothing,
      execute: () => 10n,
    });
    const refusing = defineTool({
      name: "refusing",
      description: "Says itself that it failed.",
      input: nothing,
      execute: () => toolReply({ content: "There is no such city.", isError: true }),
    });
    const { llm, builder } = calling({ name: "throwing" }, { name: "endless" }, { name: "refusing" });
    await builder.tool(throwing).tool(endless).tool(refusing).build().run();
    expect(resultsIn(llm.requests[1])).toEqual([
      { isError: true, content: "The disk is full." },
      {
        isError: true,
        content:
          "The tool endless returned a bigint; return String(value). The call ran and may have had its effect.",
      },
      { isError: true, content: "There is no such city." },
    ]);
  });

  it("time out, and the signal of the tool is aborted", async () => {
    const clock = new TestClock();
    let signal: AbortSignal | undefined;
    const slow = defineTool({
      name: "slow",
      description: "Never answers.",
      input: nothing,
      timeoutMs: 500,
      execute(_, context) {
        signal = context.signal;
        queueMicrotask(() => clock.advanceTo(clock.now() + 500));
        return new Promise(() => undefined);
      },
    });
    const { llm, builder } = calling({ name: "slow" });
    await builder.tool(slow).build({ clock }).run();
    expect(resultsIn(llm.requests[1])).toEqual([
      { isError: true, content: expect.stringContaining("did not answer within 500 ms") },
    ]);
    expect(signal?.aborted).toBe(true);
    expect(clock.waiting).toBe(0);
  });
});

/** A tool that answers when `expected` calls are there, and the order of what happened. */
const meeting = (expected: number): { tool: Tool; order: readonly string[] } => {
  const all = Promise.withResolvers<void>();
  const order: string[] = [];
  const tool = defineTool({
    name: "meet",
    description: "Answers when all calls are there.",
    input: z.object({ who: z.string() }),
    async execute({ who }) {
      order.push(`${who} came`);
      if (order.length === expected) all.resolve();
      await all.promise;
      order.push(`${who} left`);
      return who;
    },
  });
  return { tool, order };
};

describe("several calls of one turn", () => {
  it("run in parallel, with their results in the order of the calls", async () => {
    const { tool, order } = meeting(2);
    const { llm, builder } = calling(
      { name: "meet", arguments: { who: "Ada" } },
      { name: "meet", arguments: { who: "Bo" } },
    );
    const engine = builder.tool(tool).build();
    await engine.run();
    expect(order.slice(0, 2)).toEqual(["Ada came", "Bo came"]);
    expect(resultsIn(llm.requests[1]).map(({ content }) => content)).toEqual(["Ada", "Bo"]);
    expect(engine.memory().parallelResults.map(({ observation }) => observation)).toEqual([
      "SUCCESS: Ada",
      "SUCCESS: Bo",
    ]);
  });

  it("run one after the other without parallelTools", async () => {
    const { tool, order } = meeting(1);
    const { llm, builder } = calling(
      { name: "meet", arguments: { who: "Ada" } },
      { name: "meet", arguments: { who: "Bo" } },
    );
    const engine = builder.tool(tool).parallelTools(false).build();
    await engine.run();
    expect(order).toEqual(["Ada came", "Ada left", "Bo came", "Bo left"]);
    expect(llm.requests[0]?.parallelToolCalls).toBe(false);
    expect(movesOf(engine)).toContain("Planning LlmToolCall Acting");
  });

  it("count as a success when one of them succeeds", async () => {
    const { builder } = calling({ name: "wether" }, weatherIn("Oslo"));
    const engine = builder.tool(weatherTool()).build();
    await engine.run();
    expect(movesOf(engine)).toContain("ParallelActing ToolSuccess Observing");
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
