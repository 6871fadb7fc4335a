import { describe, expect, it } from "vitest";
import { initialAgentState, type AgentConfigChange, type AgentInput } from "@moora/agent-core-state-machine";
import {
  answered,
  asked,
  callsMade,
  decided,
  givenAgent,
  llmStarted,
  opened,
  started,
  succeeded,
  timePassed,
} from "../src/index.ts";
import { oneCall, plan, tool, withTool } from "./one-tool.ts";

const configured = (config: object): AgentInput => ({ type: "agent-configured", config, timestamp: 1 });

const endsIn = (terminals: readonly string[]): AgentConfigChange => ({
  graph: {
    states: ["Out"],
    rows: {
      Planning: { LlmFinalAnswer: "Out" },
      ...(terminals.length === 0 ? { Out: { Back: "Planning" } } : {}),
    },
    terminals,
  },
});

describe("a loop that ended in a terminal state", () => {
  it("stays ended when a configuration takes that state out of the terminals", () => {
    const ended = givenAgent({ config: endsIn(["Out"]) })(asked("q"), answered("plan/1/1/1", "a")).shows(
      "Out",
    );
    const later = ended.and(configured(endsIn([]))).shows("Done");
    expect(
      later.and(asked("q2"), answered("plan/2/1/1", "a2")).shows("Out", "state/2/1/1").state.messages,
    ).toHaveLength(4);
  });
});

describe("a probe that never comes through", () => {
  it("leaves the outcome unknown when the attempts are used up, and the model reads it", () => {
    const begun = withTool({ probe: true }, { retries: { maxToolAttempts: 2 } })(
      asked("q"),
      oneCall,
      started("call_1"),
      opened(),
    );
    const ended = begun.shows("Acting", "probe/call_1/2").and(opened()).shows("Planning", "plan/1/2/1");
    expect(ended.call("call_1")?.result).toMatchObject({ isSuccess: false, code: "outcome-unknown" });
  });
});

describe("the last attempt of a call", () => {
  const last = withTool({ probe: true }, { retries: { maxToolAttempts: 1 } })(
    asked("q"),
    oneCall,
    started("call_1"),
    opened(),
  ).shows("Acting", "probe/call_1/2");

  it("has its probe asked when it is interrupted, which finds the result", () => {
    const ended = last.and(succeeded("call_1")).shows("Planning", "plan/1/2/1");
    expect(ended.call("call_1")?.result).toMatchObject({ isSuccess: true });
  });

  it("is not followed by another one when the probe is interrupted as well", () => {
    const ended = last.and(opened()).shows("Planning", "plan/1/2/1");
    expect(ended.call("call_1")?.result).toMatchObject({ isSuccess: false, code: "outcome-unknown" });
  });
});

describe("a summary that never comes through", () => {
  it("is given up after so many crashes, and everything is kept", () => {
    const reflecting = withTool({}, { reflection: { everyNSteps: 1 }, retries: { maxLlmAttempts: 1 } })(
      asked("q"),
      oneCall,
      started("call_1"),
      succeeded("call_1"),
    ).shows("Reflecting", "reflect/1/1/1");
    const next = reflecting.and(llmStarted("reflect/1/1/1"), opened()).shows("Planning", "plan/1/2/1");
    expect(next.state.transcript.some(({ type }) => type === "summary")).toBe(false);
  });
});

describe("a human's word", () => {
  it("reaches the model with its reason", () => {
    const rejected = withTool({ approval: "always" })(
      asked("q"),
      oneCall,
      decided("call_1", "rejected", { reason: "Too dear." }),
    );
    expect(rejected.call("call_1")?.decision?.reason).toBe("Too dear.");
    expect(rejected.memory.lastObservation).toContain("Too dear.");
  });

  it("does not bring back a tool that was blacklisted while it was asked for", () => {
    const asks = withTool({ approval: "always" })(
      asked("q"),
      oneCall,
      configured({ toolCalls: { blacklist: ["work"] } }),
    );
    const ended = asks.and(decided("call_1", { modified: '{"a":1}' }));
    expect(ended.call("call_1")?.result).toMatchObject({ isSuccess: false, code: "blacklisted" });
    const [result] =
      ended.request?.messages.flatMap((message) => ("results" in message ? message.results : [])) ?? [];
    expect(result?.content).not.toContain("changed the arguments");
  });
});

describe("a question to a human that is reminded of and put before others", () => {
  it("shows itself again each time, under a key of its own, until it is decided", () => {
    const asks = withTool(
      { approval: "always" },
      { approval: { policy: "never", remindAfterMs: 10, escalateAfterMs: 20 } },
    )(asked("q"), oneCall);
    const reminded = asks.and(timePassed("wait/ask/call_1/1/reminder/1", 11));
    reminded.shows(
      "WaitingForHuman",
      "ask/call_1/1/1/1",
      "wait/ask/call_1/1/reminder/2",
      "wait/ask/call_1/1/escalation",
    );
    const escalated = reminded.and(timePassed("wait/ask/call_1/1/escalation", 21));
    escalated.shows("WaitingForHuman", "ask/call_1/1/1/2", "wait/ask/call_1/1/reminder/3");
    expect(
      escalated.and(decided("call_1", "approved")).shows("Acting", "tool/call_1/1").call("call_1")?.result,
    ).toBeNull();
  });
});

describe("what a model made beside its text", () => {
  it("is given back to it as it came: raw parts and a raw turn", () => {
    const observed: AgentInput = {
      ...oneCall,
      turn: {
        origin: "test/model",
        parts: [{ type: "call", toolCallId: "call_1", raw: { id: "call_x" } }],
        raw: { id: "turn_x" },
      },
    };
    const next = withTool({})(asked("q"), observed, started("call_1"), succeeded("call_1"));
    expect(next.request?.messages.at(-1)).toMatchObject({
      turn: { raw: { id: "turn_x" }, parts: [{ type: "tool-call", raw: { id: "call_x" } }] },
    });
  });
});

describe("results that arrive out of order", () => {
  it("stand in the order of their calls in the request (E05)", () => {
    const three = callsMade(plan, {
      call_1: { name: "work" },
      call_2: { name: "work" },
      call_3: { name: "work" },
    });
    const acting = withTool({})(asked("q"), three, started("call_1"), started("call_2"), started("call_3"));
    const next = acting.and(
      succeeded("call_3", "third", 2),
      succeeded("call_1", "first", 3),
      succeeded("call_2", "second", 4),
    );
    const results = next.request?.messages.flatMap((message) =>
      "results" in message ? message.results : [],
    );
    expect(results?.map(({ content }) => content)).toEqual(["first", "second", "third"]);
  });
});

describe("a state that was stored by a host without prices", () => {
  it("continues, and its calls cost nothing so far", () => {
    const { cost: _, ...usage } = initialAgentState().usage;
    const state = initialAgentState({
      config: { budget: { maxCost: 1, maxTotalCost: 1 } },
      tools: { work: tool() },
    });
    const begun = givenAgent({ ...state, usage })(asked("q"));
    const ownUsage = { ...begun.state, reActContext: { ...begun.state.reActContext, usage } };
    const again = givenAgent(ownUsage)(configured({ limits: { minAnswerLength: 5 } }), {
      ...answered("plan/1/1/1", "No."),
      usage,
      messageId: "msg_1_1_1",
    });
    again.shows("Planning", "plan/1/2/1");
    expect(again.state.usage.cost).toBe(0);
  });
});
