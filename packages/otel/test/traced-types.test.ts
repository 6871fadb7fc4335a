import { defineAgent, defineContext, defineData, defineTeam, defineTool, type Agent } from "@moora/agent";
import { MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { sessionTelemetry } from "../src/index.ts";

const user = defineContext<{ readonly user: string }>();
const cart = defineData({ schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } });
const add = defineTool({
  name: "add",
  description: "Adds an item.",
  input: z.object({ item: z.string() }),
  data: cart,
  execute: ({ item }) => ({ added: item }),
});
const who = defineTool({
  name: "who",
  description: "Returns the user.",
  input: z.object({}),
  context: user,
  execute: (_, { context }) => context.user,
});
const llm = new MockLlmCaller([]);
const answer = z.object({ total: z.number() });

describe("a traced agent", () => {
  const { traced } = sessionTelemetry({});

  it("has the types of the agent: its answer, its data, its tools and its context", () => {
    const shop = defineAgent({ llm, data: cart, answer, tools: [add, who] });
    const agent = traced(shop);
    expectTypeOf(agent).toEqualTypeOf(shop);
    expectTypeOf<NonNullable<(typeof agent)["~tools"]>["name"]>().toEqualTypeOf<"add" | "who">();
    expectTypeOf<NonNullable<(typeof agent)["~data"]>>().toEqualTypeOf<{ items: string[] }>();
    expect([...agent.parts.tools.keys()]).toEqual(["add", "who"]);
  });

  it("has those of a definition in its call, of a team, and of any agent", () => {
    const inline = traced(defineAgent({ llm, tools: [add], data: cart }));
    expectTypeOf<NonNullable<(typeof inline)["~tools"]>["name"]>().toEqualTypeOf<"add">();
    const team = defineTeam({
      agents: { first: { agent: inline, description: "Adds." } },
      start: "first",
    });
    expectTypeOf(traced(team)).toEqualTypeOf(team);
    const wide: Agent<unknown> = defineAgent({ llm });
    expectTypeOf(traced(wide)).toEqualTypeOf<Agent<unknown>>();
    expect(traced(wide).name).toBe("agent");
  });
});
