import { defineContext, defineTool } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AgentBuilder, AgentEngine } from "../../src/index.ts";

const task = "Who am I?";

const who = defineTool({
  name: "who",
  description: "Returns the user.",
  input: { type: "object" },
  context: defineContext<{ readonly user: string }>(),
  execute: (_input, { context }) => context.user,
});

const builder = () =>
  new AgentBuilder(task).llm(new MockLlmCaller([callsTools([{ name: "who" }]), answers("Ada.")])).tool(who);

describe("the context of an engine", () => {
  it("reaches the tools that its builder has, in memory and in a log", async () => {
    const agent = () => builder().build().agent;
    const context = { user: "ada" };
    const engines = [
      new AgentEngine(agent(), task, { context }),
      new AgentEngine(agent(), task, { context, storage: { log: memoryLog(), id: "ada", resumes: false } }),
    ];
    for (const engine of engines) {
      await engine.run();
      expect(Object.values(engine.state.toolCalls)[0]?.result).toMatchObject({ content: "ada" });
    }
  });
});
