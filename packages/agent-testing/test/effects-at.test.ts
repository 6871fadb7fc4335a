import { effectsAt, llmRequestAt, type AgentEffect } from "@moora/agent-core-effects";
import { isEffectWanted } from "@moora/agent-core-effects/internal";
import {
  agentTransition,
  initialAgentState,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import { describe, expect, it } from "vitest";
import {
  answered,
  asked,
  callFailed,
  callsMade,
  cancelled,
  drawConfig,
  drawInput,
  drawTools,
  given,
  givenAgent,
  interrupted,
  llmStarted,
  opened,
  seededChoose,
  started,
  succeeded,
} from "../src/index.ts";

const tool = (more: object = {}) => ({ description: "A tool.", schema: '{"type":"object"}', ...more });
const P1 = "plan/1/1/1";
const one = callsMade(P1, { call_1: { name: "search", parameters: { q: "x" } } });
const agent = givenAgent({
  tools: { search: tool(), pay: tool({ approval: "always" }), probed: tool({ probe: true }) },
});
const effects = ({ state }: { readonly state: AgentState }) => ({ ...effectsAt(state) });

describe("what an agent wants done", () => {
  it("is nothing before the first message, and nothing when a loop has ended", () => {
    expect(effects(given())).toEqual({});
    expect(effects(given(asked("q"), answered(P1, "a")))).toEqual({});
    expect(effects(given(asked("q"), cancelled()))).toEqual({});
  });

  it("is a model call while it plans, the same one before and after it has started", () => {
    const call = { type: "call-llm", key: P1, purpose: "plan", requestKey: P1, messageId: "msg_1_1" };
    expect(effects(given(asked("q")))).toEqual({ [P1]: call });
    expect(effects(given(asked("q"), llmStarted(P1)))).toEqual({ [P1]: call });
  });

  it("is the same request under a new key when a crash broke the call off", () => {
    const again = effects(given(asked("q"), llmStarted(P1), opened()));
    expect(again["plan/1/1/2"]).toMatchObject({ requestKey: P1, messageId: "msg_1_1_2" });
  });

  it("is another request when the call failed", () => {
    const failed = given(asked("q"), callFailed(P1, "server", { retryable: true, retryAfterMs: 5 }));
    expect(effects(failed)).toEqual({
      "wait/plan/1/1/2": { type: "wait-until", key: "wait/plan/1/1/2", due: 6 },
    });
    const due = failed.and({ type: "deadline-passed", key: "wait/plan/1/1/2", timestamp: 9 });
    expect(effects(due)["plan/1/1/2"]).toMatchObject({ requestKey: "plan/1/1/2" });
  });

  it("is each admitted call, before and after it has started", () => {
    const call = {
      key: "tool/call_1/1",
      toolCallId: "call_1",
      attempt: 1,
      name: "search",
      parameters: '{"q":"x"}',
    };
    const wanted = { "tool/call_1/1": { type: "call-tool", ...call, digest: "digest-call_1" } };
    for (const acting of [agent(asked("q"), one), agent(asked("q"), one, started("call_1"))])
      expect(effects(acting)).toEqual(wanted);
  });

  it("is a probe where a crash broke off a call that has one", () => {
    const probing = agent(
      asked("q"),
      callsMade(P1, { call_1: { name: "probed" } }),
      started("call_1"),
      opened(),
    );
    expect(effects(probing)["probe/call_1/2"]).toMatchObject({
      type: "probe-tool",
      attempt: 2,
      name: "probed",
    });
    expect(effects(probing.and(interrupted("call_1", "not-run", 2)))["tool/call_1/3"]).toMatchObject({
      attempt: 3,
    });
  });

  it("is a question to a human, and the waits that belong to it", () => {
    const asking = givenAgent({
      config: { approval: { policy: "always", expiresAfterMs: 50, remindAfterMs: 10 } },
      tools: { pay: tool() },
    })(asked("q"), callsMade(P1, { call_1: { name: "pay" } }));
    expect(effects(asking)).toEqual({
      "ask/call_1/1/1/0": {
        type: "ask-human",
        key: "ask/call_1/1/1/0",
        toolCallId: "call_1",
        about: "approval",
        name: "pay",
        parameters: "{}",
        digest: "digest-call_1",
        due: 51,
        reminder: 0,
        escalated: false,
      },
      "wait/ask/call_1/1/expiry": { type: "wait-until", key: "wait/ask/call_1/1/expiry", due: 51 },
      "wait/ask/call_1/1/reminder/1": { type: "wait-until", key: "wait/ask/call_1/1/reminder/1", due: 11 },
    });
  });

  it("is a summary while it reflects", () => {
    const reflecting = givenAgent({ config: { reflection: { everyNSteps: 1 } }, tools: { search: tool() } })(
      asked("q"),
      one,
      succeeded("call_1"),
    );
    const key = "reflect/1/1/1";
    const call = { type: "call-llm", key, purpose: "reflect", requestKey: key, messageId: "" };
    expect(effects(reflecting)).toEqual({ [key]: call });
    const again = effects(reflecting.and(llmStarted(key), opened()));
    expect(again["reflect/1/1/2"]).toMatchObject({ purpose: "reflect", requestKey: key });
  });

  it("is the handler of a custom state, and nothing in a terminal one", () => {
    const own = givenAgent({
      config: {
        graph: {
          states: ["Check", "Gone"],
          rows: { Planning: { LlmFinalAnswer: "Check" }, Check: { Out: "Gone" } },
          terminals: ["Gone"],
        },
      },
    });
    const checking = own(asked("q"), answered(P1, "a"));
    expect(effects(checking)).toEqual({
      "state/1/1/1": {
        type: "run-state",
        key: "state/1/1/1",
        workKey: "state/1/1/1",
        name: "Check",
        attempt: 1,
        event: "LlmFinalAnswer",
      },
    });
    const gone = checking.and({ type: "state-handled", key: "state/1/1/1", event: "Out", timestamp: 1 });
    expect(effects(gone)).toEqual({});
  });
});

/** A drawn conversation of an agent, every state of it. */
function* drawn(seed: number, length: number): Generator<readonly [AgentState, readonly AgentInput[]]> {
  const choose = seededChoose(seed);
  let state = initialAgentState({ config: drawConfig(choose), tools: drawTools(choose) });
  const inputs: AgentInput[] = [];
  for (let count = 0; count < length; count += 1) {
    const input = drawInput(state, inputs, choose);
    inputs.push(input);
    state = agentTransition(input)(state);
    yield [state, inputs];
  }
}

describe("whether a state wants one effect", () => {
  it("is the same as whether its effects contain the key, for every effect that an earlier state wanted", () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const earlier = new Map<string, AgentEffect>();
      for (const [state] of drawn(seed, 40)) {
        const wanted = effectsAt(state);
        for (const effect of Object.values(wanted)) earlier.set(effect.key, effect);
        const found = [...earlier.values()].filter((effect) => isEffectWanted(state, effect));
        expect(found.map(({ key }) => key).toSorted()).toEqual(Object.keys(wanted).toSorted());
      }
    }
  });
});

describe("the cost of effects", () => {
  /** Counts what is read of a state: the same work reads the same, however long the conversation is. */
  const readsOf = (state: AgentState): number => {
    let reads = 0;
    const counted = <T extends object>(value: T): T =>
      new Proxy(value, {
        get(target, key, receiver) {
          reads += 1;
          return Reflect.get(target, key, receiver);
        },
        getOwnPropertyDescriptor(target, key) {
          reads += 1;
          return Reflect.getOwnPropertyDescriptor(target, key);
        },
        ownKeys(target) {
          reads += Reflect.ownKeys(target).length;
          return Reflect.ownKeys(target);
        },
      });
    const { toolCalls, messages, transcript } = state;
    effectsAt(
      counted({
        ...state,
        toolCalls: counted(toolCalls),
        messages: counted([...messages]),
        transcript: counted([...transcript]),
      }),
    );
    return reads;
  };

  it("follows the open work and not the history", () => {
    const after = (loops: number): AgentState => {
      let state = initialAgentState({ tools: { search: tool() } });
      const apply = (input: AgentInput): void => void (state = agentTransition(input)(state));
      for (let loop = 1; loop <= loops; loop += 1) {
        apply(asked("q", `m${loop}`));
        apply(callsMade(`plan/${loop}/1/1`, { [`call_${loop}`]: { name: "search" } }));
        if (loop === loops) break;
        apply(succeeded(`call_${loop}`));
        apply(answered(`plan/${loop}/2/1`, "a"));
      }
      return state;
    };
    expect(Object.keys(effectsAt(after(300)))).toEqual(["tool/call_300/1"]);
    expect(readsOf(after(300))).toBe(readsOf(after(3)));
  });

  it("does not touch the request", () => {
    const { state } = given(asked("q"));
    expect(llmRequestAt(state)).toBeDefined();
    expect(readsOf(state)).toBeLessThan(20);
  });
});
