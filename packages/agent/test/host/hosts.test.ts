import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { rulesVersion } from "@moora/agent-core-state-machine";
import { recordAfter } from "@moora/event-log";
import { describe, expect, it } from "vitest";
import {
  agentTransition,
  defineAgent,
  defineTool,
  effectsAt,
  foldHeader,
  initialStateOf,
  interruptionOf,
  newSessionHeader,
  recordInputs,
  releaseInputs,
  userMessage,
  type Agent,
  type AgentInput,
  type AgentState,
  type FoldedSession,
} from "../../src/index.ts";
import { foldRecords } from "../../src/internal.ts";
import * as z from "zod";
import { toolOf } from "../support.ts";

const agentWith = (replay: "safe" | "once", systemPrompt = ""): Agent =>
  defineAgent({
    llm: new MockLlmCaller([callsTools([{ name: "a" }, { name: "b" }]), answers("Done.")]),
    tools: [
      defineTool({ name: "a", description: "a", input: z.object({}), replay, execute: () => "a" }),
      toolOf("b"),
    ],
    systemPrompt,
  });

const asked = userMessage("Go.", { messageId: "m1", timestamp: 1 });

describe("a session that a host stores as JSON", () => {
  it("continues with the records of one that was never stored", () => {
    const inputs: readonly AgentInput[] = [
      asked,
      { type: "llm-call-started", key: "plan/1/1/1", timestamp: 2 },
      { type: "re-act-cancelled", timestamp: 3 },
      userMessage("Again.", { messageId: "m2", timestamp: 4 }),
    ];
    let kept = foldHeader(newSessionHeader(agentWith("safe"), "i"));
    let stored: FoldedSession = kept;
    for (const input of inputs) {
      const next = recordInputs(kept, [input]);
      const restored: FoldedSession = JSON.parse(JSON.stringify(stored));
      const same = recordInputs(restored, [input]);
      expect(same.records).toEqual(next.records);
      [kept, stored] = [next, same];
    }
    expect(kept.head.seq).toBe(4);
  });
});

describe("records that another process has made", () => {
  const start = foldHeader(newSessionHeader(agentWith("safe"), "i"));
  const { records, state, head } = recordInputs(start, [
    asked,
    { type: "llm-call-started", key: "plan/1/1/1", timestamp: 2 },
    { type: "re-act-cancelled", timestamp: 3 },
  ]);

  it("fold to the session of that process, from any head", async () => {
    expect(await foldRecords(start, records)).toEqual({ state, head, rules: rulesVersion });
    const first = await foldRecords(start, records.slice(0, 1));
    expect(first.head.seq).toBe(1);
    expect(await foldRecords(first, records.slice(1))).toEqual({ state, head, rules: rulesVersion });
    expect(await foldRecords({ state, head, rules: rulesVersion }, [])).toEqual({
      state,
      head,
      rules: rulesVersion,
    });
  });

  it("are refused if they do not continue the session, or if a newer release wrote them", async () => {
    await expect(foldRecords(start, records.slice(1))).rejects.toThrow(
      expect.objectContaining({ code: "LogCorrupt" }),
    );
    const newer = recordAfter(head, JSON.stringify({ type: "re-act-cancelled", v: 99 }), "");
    await expect(foldRecords({ state, head, rules: rulesVersion }, [newer])).rejects.toThrow(
      expect.objectContaining({ code: "UnsupportedVersion" }),
    );
  });
});

describe("releaseInputs", () => {
  it("brings a session to another release, and interrupts nothing", () => {
    const { state } = recordInputs(foldHeader(newSessionHeader(agentWith("safe"), "i")), [asked]);
    expect(releaseInputs(agentWith("safe"), state, 2)).toEqual([]);
    const [configured] = releaseInputs(agentWith("safe", "Be brief."), state, 2);
    expect(configured).toMatchObject({ type: "agent-configured", config: { systemPrompt: "Be brief." } });
  });
});

describe("interruptionOf", () => {
  /** The state in which a model call has started, or two tools have. */
  function started(agent: Agent, tools: boolean): AgentState {
    let state = agentTransition(asked)(initialStateOf(agent));
    const inputs: readonly AgentInput[] = [
      { type: "llm-call-started", key: "plan/1/1/1", timestamp: 2 },
      ...(tools ? toolsCalled : []),
    ];
    for (const input of inputs) state = agentTransition(input)(state);
    return state;
  }
  const toolsCalled: readonly AgentInput[] = [
    {
      type: "re-act-observed",
      key: "plan/1/1/1",
      calledLlmAt: 3,
      observation: {
        type: "continue-re-act",
        toolCalls: {
          c1: { name: "a", parameters: "{}", calledAt: 3 },
          c2: { name: "b", parameters: "{}", calledAt: 3 },
        },
      },
      timestamp: 3,
    },
    { type: "tool-call-started", toolCallId: "c1", attempt: 1, timestamp: 4 },
    { type: "tool-call-started", toolCallId: "c2", attempt: 1, timestamp: 4 },
  ];

  const interrupt = (state: AgentState, key: string): AgentState => {
    const effect = effectsAt(state)[key];
    const input = effect === undefined ? undefined : interruptionOf(effect, state, 9);
    if (input === undefined) throw new Error(`${key} is not interrupted.`);
    return agentTransition(input)(state);
  };

  it("repeats a model call with the same request under a new key", () => {
    const state = interrupt(started(agentWith("safe"), false), "plan/1/1/1");
    expect(Object.values(effectsAt(state))).toMatchObject([{ key: "plan/1/1/2", requestKey: "plan/1/1/1" }]);
  });

  it("runs a safe tool again, and leaves the other one alone", () => {
    const state = interrupt(started(agentWith("safe"), true), "tool/c1/1");
    expect(Object.keys(effectsAt(state))).toEqual(["tool/c1/2", "tool/c2/1"]);
  });

  it("settles a tool that runs once as unknown", () => {
    const state = interrupt(started(agentWith("once"), true), "tool/c1/1");
    expect(Object.keys(effectsAt(state))).toEqual(["tool/c2/1"]);
    expect(state.toolCalls["c1"]?.result).toMatchObject({ isSuccess: false, code: "outcome-unknown" });
  });

  it("is undefined for an effect that has not started, and for one that is not wanted", () => {
    const agent = agentWith("safe");
    const state = agentTransition(asked)(initialStateOf(agent));
    const [effect] = Object.values(effectsAt(state));
    if (effect === undefined) throw new Error("The state wants no effect.");
    expect(interruptionOf(effect, state, 9)).toBeUndefined();
    const later = interrupt(started(agent, false), "plan/1/1/1");
    expect(interruptionOf(effect, later, 9)).toBeUndefined();
  });

  it("applies the replay policy of a custom state to its handler", () => {
    const config = (replay: "safe" | "once") => ({
      graph: {
        states: ["Checking"],
        replay: { Checking: replay },
        rows: { Planning: { LlmFinalAnswer: "Checking" }, Checking: { Fine: "Done" } },
        terminals: [],
      },
    });
    const handled = (replay: "safe" | "once"): AgentState => {
      const agent = defineAgent({
        llm: new MockLlmCaller([]),
        config: config(replay),
        states: { Checking: () => "Fine" },
      });
      const inputs: readonly AgentInput[] = [
        asked,
        { type: "llm-call-started", key: "plan/1/1/1", timestamp: 2 },
        {
          type: "re-act-observed",
          key: "plan/1/1/1",
          calledLlmAt: 3,
          observation: { type: "complete-re-act" },
          timestamp: 3,
        },
        { type: "state-handler-started", key: "state/1/1/1", timestamp: 4 },
      ];
      let state = initialStateOf(agent);
      for (const input of inputs) state = agentTransition(input)(state);
      return interrupt(state, "state/1/1/1");
    };
    expect(Object.keys(effectsAt(handled("safe")))).toEqual(["state/1/1/2"]);
    expect(handled("once").reActContext.control.type).toBe("Error");
  });
});
