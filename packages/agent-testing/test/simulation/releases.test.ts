import { defineAgent, defineTool, type Agent } from "@moora/agent";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { simulate, simulateActions, type SimAction } from "../../src/index.ts";
import { shopAgent } from "../shop-agent.ts";
import { graphOf } from "@moora/testbed/graph-of";

const tool = (name: string, replay: "safe" | "keyed") =>
  defineTool({
    name,
    description: "Works.",
    input: { type: "object" },
    replay,
    execute: () => "The simulation answers for its tools.",
  });

/** An agent with a tool that may ask a person, and a state whose handler calls another tool. */
const agent: Agent = defineAgent({
  name: "releases",
  llm: new MockLlmCaller(() => answers("The simulation answers for its models.")),
  tools: [tool("search", "safe"), tool("mail", "keyed")],
  config: {
    graph: graphOf({ Observing: { Continue: "Check" }, Check: { Fine: "Planning" } }),
  },
  states: {
    Check: {
      replay: "keyed",
      async handle(_, { callTool }) {
        await callTool("search", {});
        return "Fine";
      },
    },
  },
});

const calls = (name: string): SimAction => ({
  type: "model-answers",
  answer: { kind: "calls", calls: [{ name, arguments: "{}" }] },
});
const runsOnce = (name: string): SimAction => ({
  type: "release",
  release: { change: "replay", tool: name, fields: { replay: "once" } },
});
const rollback: SimAction = { type: "release", release: { change: "rollback" } };
const asks: SimAction = {
  type: "tool-answers",
  answer: {
    kind: "success",
    outcome: {
      isSuccess: false,
      error: "The call asks.",
      code: "tool-error",
      asks: { question: "Which one?", state: {} },
    },
  },
};

describe("a release in which a tool runs once, followed by one in which it may run again", () => {
  it("lets a call run again that a person replied to, and again when that run was interrupted", async () => {
    const { failure } = await simulateActions(agent, {
      actions: [
        { type: "message", text: "Hello." },
        runsOnce("mail"),
        { type: "crash" },
        { type: "take-over" },
        calls("mail"),
        rollback,
        asks,
        { type: "take-over" },
        { type: "decide", decision: { answer: "the red one" }, host: 1 },
        { type: "crash" },
      ],
    });
    expect(failure).toBeUndefined();
  });

  it("lets the handler of a state, whose calls are not in the log, call the tool again", async () => {
    const { failure } = await simulateActions(agent, {
      actions: [
        { type: "message", text: "Hello." },
        calls("search"),
        runsOnce("search"),
        { type: "take-over" },
        rollback,
        { type: "release", release: { change: "tool-renamed", tool: "search" } },
        { type: "close" },
      ],
    });
    expect(failure).toBeUndefined();
  });
});

describe("a release in which a tool is riskier than its open question has shown", () => {
  it("runs no call with a decision on that question", async () => {
    const { failure } = await simulateActions(agent, {
      config: { approval: { policy: "always" } },
      actions: [
        { type: "message", text: "Hello." },
        calls("mail"),
        { type: "release", release: { change: "risk", tool: "mail", fields: { risk: "critical" } } },
        { type: "crash" },
        { type: "take-up" },
        // The last question, and the one before it.
        { type: "decide", question: 1, decision: "approve" },
      ],
    });
    expect(failure).toBeUndefined();
  });
});

describe("simulated releases", () => {
  it.each([
    ["a tool becomes riskier", ["crash", "release:risk"]],
    ["a changed input is changed back", ["crash", "release:schema-upcast", "release:rollback"]],
  ])("let nothing run without its approval, and lose no call, where %s", async (_, faults) => {
    const report = await simulate(shopAgent, { runs: 40, length: 20, faults });
    expect(report.failure, report.toText()).toBeUndefined();
  });
});
