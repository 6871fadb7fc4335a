import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it, vi } from "vitest";
import {
  agentTransition,
  defineAgent,
  effectsAt,
  initialStateOf,
  performWith,
  userMessage,
  type Agent,
  type AgentState,
  type PerformOptions,
} from "../src/index.ts";
import { TestClock } from "@moora/testbed/test-clock";
import { toolOf } from "./support.ts";

/** The loop of the design, by hand and without a runner. */
async function byHand(agent: Agent, said: string, options: PerformOptions = {}): Promise<AgentState> {
  const perform = performWith(agent, options);
  let state = agentTransition(userMessage(said))(initialStateOf(agent));
  for (let open = Object.values(effectsAt(state)); open[0]; open = Object.values(effectsAt(state)))
    for await (const input of perform(open[0], state)) state = agentTransition(input)(state);
  return state;
}

describe("a loop of one's own", () => {
  it("has the same result as a session", async () => {
    const llm = new MockLlmCaller([callsTools([{ name: "a" }, { name: "b" }]), answers("Done.")]);
    const state = await byHand(
      defineAgent({ llm, tools: [toolOf("a"), toolOf("b", async () => "later")] }),
      "q",
    );
    expect(state.reActContext.control).toEqual({ type: "Done", answer: "Done." });
    expect(Object.values(state.toolCalls).map(({ result }) => result?.isSuccess)).toEqual([true, true]);
    expect(state.messages.map(({ content }) => content)).toEqual(["q", "Done."]);
  });

  it("waits for what is due by the clock that it is given", async () => {
    const clock = new TestClock(1_000);
    const llm = new MockLlmCaller([fails("server"), answers("Done.")]);
    const running = byHand(defineAgent({ llm }), "q", { clock });
    await clock.whenWaiting(1);
    clock.advance(1_000);
    expect((await running).reActContext.control.type).toBe("Done");
  });

  it("rejects a question without a reviewer, and does not loop", async () => {
    const pay = vi.fn();
    const llm = new MockLlmCaller([callsTools([{ name: "pay" }]), answers("Done.")]);
    const agent = defineAgent({
      llm,
      tools: [toolOf("pay", pay)],
      config: { approval: { policy: "always" } },
    });
    const state = await byHand(agent, "Pay.");
    expect(state.toolCalls["call_1"]).toMatchObject({
      decision: { type: "rejected", by: "no-reviewer" },
      result: { error: "A human rejected this call: No reviewer is available." },
    });
    expect(pay).not.toHaveBeenCalled();
  });

  it("passes questions to the given approval handler", async () => {
    const ask = vi.fn();
    const llm = new MockLlmCaller([callsTools([{ name: "pay" }])]);
    const agent = defineAgent({ llm, tools: [toolOf("pay")], config: { approval: { policy: "always" } } });
    const perform = performWith(agent, { ask, sessionId: "mine" });
    let state = agentTransition(userMessage("Pay."))(initialStateOf(agent));
    for (let runs = 0; runs < 2; runs += 1) {
      const [effect] = Object.values(effectsAt(state));
      if (effect !== undefined)
        for await (const input of perform(effect, state)) state = agentTransition(input)(state);
    }
    expect(ask).toHaveBeenCalledWith(expect.objectContaining({ type: "ask-human", toolCallId: "call_1" }));
    expect(state.reActContext.control.type).toBe("WaitingForHuman");
  });

  it("can be canceled, and reports to viewers what is streamed", async () => {
    const cancel = new AbortController();
    const notify = vi.fn(() => cancel.abort());
    const agent = defineAgent({ llm: new MockLlmCaller([answers("one two three")]) });
    const perform = performWith(agent, { signal: cancel.signal, notify });
    const state = agentTransition(userMessage("q"))(initialStateOf(agent));
    const [effect] = Object.values(effectsAt(state));
    const types: string[] = [];
    if (effect !== undefined) for await (const { type } of perform(effect, state)) types.push(type);
    // The cost of the answer is known, though the answer is no longer wanted.
    expect(types).toEqual(["llm-call-started", "usage-reported"]);
    expect(notify).toHaveBeenCalledTimes(1);
  });
});
