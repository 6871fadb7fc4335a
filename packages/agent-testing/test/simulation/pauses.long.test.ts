import { defineAgent, defineTool, type Agent } from "@moora/agent";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { simulate, simulateActions, type SimAction } from "../../src/index.ts";
import { shopAgent } from "../shop-agent.ts";
import { graphOf } from "@moora/testbed/graph-of";

const tools = ["look", "write"].map((name) =>
  defineTool({
    name,
    description: "Works.",
    input: { type: "object" },
    replay: "keyed",
    execute: () => "The simulation answers for its tools.",
  }),
);

/** An agent whose handler calls two tools, one after the other. */
const stepAgent: Agent = defineAgent({
  name: "steps",
  llm: new MockLlmCaller(() => answers("The simulation answers for its models.")),
  tools,
  config: {
    graph: graphOf({ Planning: { LlmFinalAnswer: "Check" }, Check: { Fine: "Done" } }),
  },
  states: {
    Check: {
      replay: "keyed",
      async handle(_, { callTool }) {
        await callTool("look", {});
        await callTool("write", {});
        return "Fine";
      },
    },
  },
});

const message: SimAction = { type: "message", text: "Hello." };
const answer: SimAction = { type: "model-answers", answer: { kind: "plain", text: "Yes." } };
const ends: SimAction = { type: "tool-answers", answer: { kind: "success" } };
const pause: SimAction = { type: "pause" };

const storyOf = async (actions: readonly SimAction[]): Promise<readonly string[]> => {
  const { failure, story, skipped } = await simulateActions(stepAgent, { actions });
  expect(failure).toBeUndefined();
  expect(skipped).toBe(0);
  return story.map(({ what, control }) => `${control}: ${what}`);
};

describe("a simulated pause", () => {
  it.each([
    { name: "of an agent with tools of every kind", agent: shopAgent },
    { name: "of an agent whose handler calls tools", agent: stepAgent },
  ])("breaks no law and no invariant in sessions $name", async ({ agent }) => {
    const faults = [
      "pause",
      "crash",
      "takeover",
      "second-host",
      "cancel",
      "tool:failure",
      "llm:failure-retryable",
    ];
    const report = await simulate(agent, { seed: 1, runs: 80, faults });
    expect(report.failure, report.toText()).toBeUndefined();
    expect(report.neverCame).toEqual([]);
  });

  it("holds the next tool of a handler, which runs when the session is resumed", async () => {
    const story = await storyOf([message, answer, pause, ends, { type: "time-passes" }]);
    expect(story).toContain("Check: the faults stop");
    expect(story).toContain("Check: a resume");
  });

  it("holds after a crash, until the next process resumes the session", async () => {
    const story = await storyOf([message, pause, answer, { type: "crash" }, { type: "take-up" }]);
    expect(story.slice(-2)).toEqual(["Check: the faults stop", "Check: a resume"]);
  });

  it("keeps a retry that becomes due in it", async () => {
    const fails: SimAction = { type: "model-answers", answer: { kind: "failure-retryable" } };
    const story = await storyOf([message, fails, pause, { type: "time-passes" }]);
    expect(story.slice(-2)).toEqual(["Planning: the faults stop", "Planning: a resume"]);
  });

  it("does not keep a cancel from ending the loop", async () => {
    const story = await storyOf([message, answer, pause, ends, { type: "cancel" }]);
    expect(story).toContain("Error: the faults stop");
  });
});
