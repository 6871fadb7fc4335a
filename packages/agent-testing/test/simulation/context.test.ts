import { defineAgent, defineContext, defineTool } from "@moora/agent";
import { MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { simulate } from "../../src/index.ts";

const given: unknown[] = [];

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  replay: "safe",
  context: defineContext<{ readonly user: string }>(),
  execute(_input, { context }) {
    given.push(context.user);
    return "seen";
  },
});

const agent = defineAgent({ llm: new MockLlmCaller([]), tools: [look] });

describe("the context of a simulation", () => {
  it("is what executed tools get, from every host", async () => {
    given.length = 0;
    const { failure } = await simulate(agent, {
      runs: 20,
      execute: true,
      faults: ["crash"],
      context: { user: "ada" },
    });
    expect(failure).toBeUndefined();
    expect(given.length).toBeGreaterThan(0);
    expect(new Set(given)).toEqual(new Set(["ada"]));
  });
});
