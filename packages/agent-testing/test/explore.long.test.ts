import {
  controlEdges,
  initialAgentState,
  type AgentConfigChange,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import { changeConfig } from "@moora/agent-core-state-machine/internal";
import { describe, expect, it } from "vitest";
import { explore, type ExploreOptions, type Invariant } from "../src/index.ts";
import { payingAgent } from "./paying-agent.ts";

const tool: ToolDefinition = { description: "A tool.", schema: '{"type":"object"}' };
const safe: ToolDefinition = { ...tool, replay: "safe" };
const { config } = initialAgentState();

describe("a small world", () => {
  it("is seen as a whole: every order of answers, decisions, cancels and crashes to a depth", () => {
    const agent = { config: { ...config, approval: { policy: "always" as const } }, tools: { pay: tool } };
    const report = explore(agent, { depth: 9 });
    expect(report.failure).toBeUndefined();
    expect(report.states).toBeGreaterThan(300);
    expect(report.edges["Planning --HumanApprovalRequired--> WaitingForHuman"]).toBeGreaterThan(0);
  });

  it("is complete only when the depth has cut off nothing", () => {
    const agent = { config: changeConfig(config, { retries: { maxLlmAttempts: 1 } }), tools: {} };
    const options: ExploreOptions = { crashes: false, outcomes: [{ answer: "Yes." }, { failure: "auth" }] };
    const whole = explore(agent, { ...options, depth: 8 });
    expect(whole).toMatchObject({ complete: true, cutOff: undefined });
    expect(explore(agent, { ...options, depth: 20 })).toMatchObject({ complete: true, states: whole.states });
    expect(explore(agent, { ...options, depth: 2 })).toMatchObject({ complete: false, cutOff: "depth" });
  });

  it("that grows with the depth is not complete, and says so", () => {
    const agent = { config, tools: { search: safe } };
    const [shallow, deep] = [explore(agent, { depth: 4 }), explore(agent, { depth: 6 })];
    expect(deep.states).toBeGreaterThan(shallow.states);
    expect(shallow).toMatchObject({ complete: false, cutOff: "depth" });
    expect(shallow.toText()).toMatch(
      /^\d+ states and \d+ transitions, to a depth of 4: there are more below this depth/,
    );
  });

  it("stops at a number of states and says that there are more", () => {
    const report = explore({ config, tools: { search: tool } }, { depth: 12, maxStates: 50 });
    expect(report).toMatchObject({ states: 50, complete: false, cutOff: "states" });
    expect(report.toText()).toContain("stopped at maxStates, there are more");
  });

  it("gives a shortest way to a request that a provider would refuse", () => {
    const dialects = {
      "a server without tools": ({ messages }: { readonly messages: readonly object[] }) =>
        messages.length > 1 ? ["too many messages"] : [],
    };
    const { failure } = explore({ config, tools: { search: tool } }, { depth: 8, dialects });
    expect(String(failure?.error)).toContain("a server without tools");
    expect(failure?.inputs.length).toBeLessThan(8);
  });
});

describe("promises of the user's own", () => {
  const runsOnce: Invariant = ({ toolRuns }) =>
    new Set(toolRuns.map(({ toolCallId }) => toolCallId)).size === toolRuns.length || "a call ran twice";

  it("are held in every state, and a shortest way to a broken one is given", () => {
    const { failure } = explore(payingAgent("safe"), { depth: 9, invariants: { runsOnce } });
    expect(failure?.error).toMatchObject({ invariant: "runsOnce" });
    expect(failure?.inputs.map(({ type }) => type)).toEqual([
      "user-message-received",
      "llm-call-started",
      "re-act-observed",
      "tool-call-started",
      "tool-call-interrupted",
      "tool-call-started",
    ]);
  });

  it("that hold are held through all states of the depth", () => {
    const report = explore(payingAgent("once"), { depth: 9, invariants: { runsOnce } });
    expect(report.failure).toBeUndefined();
  });
});

describe("edges that were never walked", () => {
  it("are only those that this agent can walk", () => {
    const { unwalked } = explore(payingAgent("once"), { depth: 7 });
    expect(unwalked).toEqual(["Planning --MaxSteps--> Error"]);
  });

  it("are those beyond the depth, too", () => {
    const { unwalked } = explore({ config, tools: { search: tool } }, { depth: 3 });
    expect(unwalked).toContain("Acting --ToolSuccess--> Observing");
    expect(unwalked).not.toContain("Idle --Start--> Planning");
    expect(unwalked).not.toContain("Planning --HumanApprovalRequired--> WaitingForHuman");
  });

  const always: AgentConfigChange = { approval: { policy: "always" } };
  const agents: readonly {
    readonly name: string;
    readonly config?: AgentConfigChange;
    readonly tools: Readonly<Record<string, ToolDefinition>>;
    readonly options?: ExploreOptions;
  }[] = [
    { name: "without tools", tools: {} },
    { name: "that asks for an outcome", tools: { book: { ...tool, onUnknown: "ask" }, search: safe } },
    { name: "whose tool is a question to a person", tools: { ask: { ...tool, asksHuman: true } } },
    { name: "that always asks, with two tools", config: always, tools: { pay: tool, search: safe } },
    {
      name: "that takes one call after the other",
      config: { toolCalls: { parallel: false } },
      tools: { a: safe, b: safe },
    },
    {
      name: "whose tool is blacklisted",
      config: { toolCalls: { blacklist: ["pay"] } },
      tools: { pay: tool, search: safe },
    },
    {
      name: "that reflects at every step",
      config: { reflection: { everyNSteps: 1 } },
      tools: { search: safe },
    },
    { name: "of a single step", config: { limits: { maxSteps: 1 } }, tools: { search: safe } },
    { name: "with a budget", config: { budget: { maxTokens: 100 } }, tools: { search: safe } },
    {
      name: "that wants long answers",
      config: { limits: { minAnswerLength: 20 }, retries: { maxAnswerRetries: 1 } },
      tools: {},
    },
    {
      name: "that types its answers",
      config: { answerSchema: '{"type":"object"}', retries: { maxAnswerRetries: 1 } },
      tools: {},
    },
    {
      name: "that is interrupted by messages",
      tools: {},
      options: { messages: 1, outcomes: [{ answer: "Yes." }, { failure: "context-length" }] },
    },
    {
      name: "whose model is unsure",
      tools: { search: safe },
      options: {
        outcomes: [
          { answer: "Perhaps.", confidence: 0.1 },
          { calls: ["search"], confidence: 0.9 },
        ],
      },
    },
  ];

  it.each(agents)(
    "never leave out an edge that was walked: an agent $name",
    ({ config: own, tools, options }) => {
      const agent = { config: changeConfig(config, own ?? {}), tools };
      const report = explore(agent, { depth: 8, ...options });
      expect(report.failure).toBeUndefined();
      // At depth 1 hardly an edge is walked yet: nearly all that can be is left.
      const { unwalked, edges } = explore(agent, { ...options, depth: 1 });
      const walkable = [...unwalked, ...Object.keys(edges)];
      expect(walkable).toEqual(expect.arrayContaining(Object.keys(report.edges)));
      expect(walkable.length).toBeLessThan(controlEdges(agent.config.graph).length);
    },
  );
});
