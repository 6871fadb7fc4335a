import { defineContext, defineData, defineTool } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { AgentBuilder } from "../../src/index.ts";

const who = defineTool({
  name: "who",
  description: "Returns the user.",
  input: { type: "object" },
  context: defineContext<{ readonly user: string }>(),
  execute: (_input, { context }) => context.user,
});

const builder = () =>
  new AgentBuilder("Who am I?")
    .llm(new MockLlmCaller([callsTools([{ name: "who" }]), answers("Ada.")]))
    .tool(who);

it("the application data of a builder reaches its tools, and is that of the run", () => {
  const data = defineData({ schema: z.object({ visits: z.number() }), initial: { visits: 0 } });
  const visit = defineTool({
    name: "visit",
    description: "Counts a visit.",
    input: z.object({}),
    data,
    execute: (_, { update }) => update((draft) => void (draft.visits += 1)),
  });
  const engine = new AgentBuilder("Visit.")
    .llm(new MockLlmCaller([callsTools([{ name: "visit" }]), answers("Done.")]))
    .data(data)
    .tool(visit)
    .build();
  engine.runSync();
  expect(engine.state.data).toEqual({ visits: 1 });
});

describe("the context of a builder", () => {
  it("reaches the tools in every way to run", async () => {
    const engines = [
      builder().context({ user: "ada" }).build(),
      builder().context({ user: "ada" }).build(),
      builder().context({ user: "ada" }).log(memoryLog()).build(),
    ] as const;
    const [sync, inMemory, durable] = engines;
    sync.runSync();
    await inMemory.run();
    await durable.run();
    for (const { state } of engines)
      expect(Object.values(state.toolCalls)[0]?.result).toMatchObject({ content: "ada" });
  });

  it("is required for a tool that needs one", () => {
    expect(() => builder().build()).toThrow("A tool needs a context: add context(...).");
  });
});
