import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import { asRead } from "@moora/testbed/as-read";
import { describe, expect, it, vi } from "vitest";
import {
  agentTransition,
  applyInputs,
  BuildError,
  decisionProblem,
  decisionToInput,
  defineAgent,
  defineTool,
  effectsAt,
  initialStateOf,
  performEffect,
  userMessage,
  type Agent,
  type AgentEffect,
  type AgentInput,
  type AskHumanEffect,
  type DispatchBatch,
  type AgentState,
  type PerformOptions,
} from "../src/index.ts";
import * as z from "zod";
import { inputAt } from "@moora/agent-core-effects";
import { toolOf } from "./support.ts";

type Options = Omit<PerformOptions, "dispatch" | "sessionId">;

const sessionId = "one";

/** A runner of one's own, of the fewest lines. */
class Runner {
  state: AgentState;
  readonly #agent: Agent;
  readonly #options: Options;

  constructor(agent: Agent, options: Options = {}, state = initialStateOf(agent)) {
    this.#agent = agent;
    this.#options = options;
    this.state = state;
  }

  readonly dispatch: DispatchBatch = (...inputs) => {
    const { state, applied } = applyInputs(this.state, inputs);
    this.state = state;
    return applied > 0;
  };

  next(): AgentEffect {
    const [effect] = Object.values(effectsAt(this.state));
    if (effect === undefined) throw new Error("The state wants no effect.");
    return effect;
  }

  perform(effect = this.next(), state = this.state): Promise<void> {
    const { dispatch } = this;
    return performEffect(this.#agent, effect, state, { ...this.#options, dispatch, sessionId });
  }

  async run(): Promise<AgentState> {
    while (Object.keys(effectsAt(this.state)).length > 0) await this.perform();
    return this.state;
  }
}

function ask(agent: Agent, content: string, options?: Options): Runner {
  const runner = new Runner(agent, options);
  void runner.dispatch(userMessage(content));
  return runner;
}

describe("a loop of one's own", () => {
  it("has the same result as a session", async () => {
    const llm = new MockLlmCaller([callsTools([{ name: "a" }, { name: "b" }]), answers("Done.")]);
    const state = await ask(
      defineAgent({ llm, tools: [toolOf("a"), toolOf("b", async () => "later")] }),
      "q",
    ).run();
    expect(state.reActContext.control).toEqual({ type: "Done", answer: "Done." });
    expect(Object.values(state.toolCalls).map(({ result }) => result?.isSuccess)).toEqual([true, true]);
    expect(state.messages.map(({ content }) => content)).toEqual(["q", "Done."]);
  });

  it("waits for what is due by the clock that it is given", async () => {
    const clock = new TestClock(1_000);
    const llm = new MockLlmCaller([fails("server"), answers("Done.")]);
    const running = ask(defineAgent({ llm }), "q", { clock }).run();
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
    const state = await ask(agent, "Pay.").run();
    expect(state.toolCalls["call_1"]?.decision).toMatchObject({ type: "rejected", by: "no-reviewer" });
    expect(asRead(state.toolCalls["call_1"]?.result)).toMatchObject({
      error: "Not run. No reviewer is available.",
    });
    expect(pay).not.toHaveBeenCalled();
  });

  it("passes questions to the given approval handler", async () => {
    const reviewer = vi.fn();
    const llm = new MockLlmCaller([callsTools([{ name: "pay" }])]);
    const agent = defineAgent({ llm, tools: [toolOf("pay")], config: { approval: { policy: "always" } } });
    const runner = ask(agent, "Pay.", { ask: reviewer });
    await runner.perform();
    await runner.perform();
    expect(reviewer).toHaveBeenCalledWith(
      expect.objectContaining({ type: "ask-human", toolCallId: "call_1" }),
    );
    expect(runner.state.reActContext.control.type).toBe("WaitingForHuman");
  });

  it("applies the decision that a reviewer makes at once, with changed arguments", async () => {
    const pay = vi.fn(() => "paid");
    const llm = new MockLlmCaller([
      callsTools([{ name: "pay", arguments: { euros: 500 } }]),
      answers("Done."),
    ]);
    const agent = defineAgent({
      llm,
      tools: [toolOf("pay", pay)],
      config: { approval: { policy: "always" } },
    });
    const state = await ask(agent, "Pay.", {
      ask: (effect) => decisionToInput(effect, { approve: { euros: 50 } }, { by: "ada", timestamp: 1 }),
    }).run();
    expect(pay).toHaveBeenCalledWith({ euros: 50 }, expect.objectContaining({ approvedBy: "ada" }));
    expect(state.toolCalls["call_1"]).toMatchObject({
      digest: '["pay","{\\"euros\\":50}"]',
      result: { content: "paid" },
    });
  });

  it("finds a change that does not fit the tool before it is applied, and never runs one", async () => {
    const execute = vi.fn(() => "paid");
    const input = z.object({ euros: z.number() });
    const pay = defineTool({ name: "pay", description: "Pays.", input, approval: "always", execute });
    const llm = new MockLlmCaller([
      callsTools([{ name: "pay", arguments: { euros: 500 } }]),
      answers("Done."),
    ]);
    const agent = defineAgent({ llm, tools: [pay] });
    const edit = { approve: { euros: "a lot" } };
    const runner = ask(agent, "Pay.", {
      ask: (effect) => decisionToInput(effect, edit, { by: "ada", timestamp: 1 }),
    });
    await runner.perform();
    expect(await decisionProblem(agent.parts, runner.state, "call_1", edit)).toMatchObject({
      code: "invalid-arguments",
      path: "decision.approve",
    });
    // Another release posts the decision, which does not have the tool, or has it with another schema.
    const wider = defineTool({ name: "pay", description: "Pays.", input: z.object({}), execute });
    for (const tools of [new Map(), new Map([["pay", wider]])]) {
      expect(await decisionProblem({ tools }, runner.state, "call_1", edit)).toMatchObject({
        code: "invalid-arguments",
      });
    }
    const state = await runner.run();
    expect(state.toolCalls["call_1"]?.result).toMatchObject({ code: "invalid-arguments" });
    expect(execute).not.toHaveBeenCalled();
  });

  it("refuses an input of its approval handler that is not one, instead of asking for ever", async () => {
    const llm = new MockLlmCaller([callsTools([{ name: "pay" }])]);
    const agent = defineAgent({ llm, tools: [toolOf("pay")], config: { approval: { policy: "always" } } });
    const approved = (effect: AskHumanEffect): AgentInput =>
      Object.assign(decisionToInput(effect, "approve", { by: "ada", timestamp: 1 }), {
        decision: "approved",
      });
    const failed = ask(agent, "Pay.", { ask: approved }).run();
    await expect(failed).rejects.toThrow(BuildError);
    await expect(failed).rejects.toThrow(
      /^ask returned an invalid input: decision: .* Return decisionToInput/,
    );
  });

  it("can be canceled, and reports to viewers what is streamed", async () => {
    const cancel = new AbortController();
    const notify = vi.fn(() => cancel.abort());
    const agent = defineAgent({ llm: new MockLlmCaller([answers("one two three")]) });
    const state = agentTransition(userMessage("q"))(initialStateOf(agent));
    const types: string[] = [];
    const [effect] = Object.values(effectsAt(state));
    if (effect === undefined) throw new Error("The state wants no effect.");
    const dispatch: DispatchBatch = (...inputs) => {
      types.push(...inputs.map((input) => inputAt(input, state).type));
      return true;
    };
    await performEffect(agent, effect, state, { signal: cancel.signal, notify, dispatch, sessionId });
    // The cost of the answer is known, though the answer is no longer wanted.
    expect(types).toEqual(["llm-call-started", "usage-reported"]);
    expect(notify).toHaveBeenCalledTimes(1);
  });
});

describe("a runner of one's own runs no tool twice", () => {
  /** A runner whose state wants a payment. The tool has the replay policy `once`. */
  async function paying(): Promise<{
    readonly runner: Runner;
    readonly agent: Agent;
    readonly pay: () => string;
  }> {
    const pay = vi.fn(() => "paid");
    const tool = toolOf("pay", pay, { replay: "once" });
    const llm = new MockLlmCaller([callsTools([{ name: "pay" }]), answers("Done.")]);
    const agent = defineAgent({ llm, tools: [tool] });
    const runner = ask(agent, "Pay.");
    await runner.perform();
    return { runner, agent, pay };
  }

  it("two runs of one effect: the second does nothing, because the intent of the first applied", async () => {
    const { runner, pay } = await paying();
    const [effect, state] = [runner.next(), runner.state];
    await Promise.all([runner.perform(effect, state), runner.perform(effect, state)]);
    expect(pay).toHaveBeenCalledTimes(1);
    expect((await runner.run()).reActContext.control).toEqual({ type: "Done", answer: "Done." });
  });

  it("an effect that was canceled before it started does nothing", async () => {
    const { runner, pay } = await paying();
    const [effect, state] = [runner.next(), runner.state];
    void runner.dispatch({ type: "re-act-cancelled", timestamp: 1 });
    await runner.perform(effect, state);
    expect(pay).not.toHaveBeenCalled();
  });

  it("a restored state with started work is refused until session-opened is dispatched to it", async () => {
    const { runner, agent, pay } = await paying();
    void runner.dispatch({ type: "tool-call-started", toolCallId: "call_1", attempt: 1, timestamp: 1 });
    const restored = new Runner(agent, {}, runner.state);
    const refused = restored.perform();
    await expect(refused).rejects.toThrow(BuildError);
    await expect(refused).rejects.toThrow("The state contains tool/call_1/1 as started");

    void restored.dispatch({ type: "session-opened", owner: "next", timestamp: 2 });
    const state = await restored.run();
    expect(state.toolCalls["call_1"]?.result).toMatchObject({ isSuccess: false, code: "outcome-unknown" });
    expect(pay).not.toHaveBeenCalled();
  });

  it("a result that could not be dispatched is not recorded as a failure of the tool", async () => {
    const { runner, agent, pay } = await paying();
    const types: string[] = [];
    const dispatch: DispatchBatch = (...inputs) => {
      types.push(...inputs.map((input) => inputAt(input, runner.state).type));
      if (types.includes("tool-call-completed")) throw new Error("ECONNRESET");
      return runner.dispatch(...inputs);
    };
    await expect(performEffect(agent, runner.next(), runner.state, { dispatch, sessionId })).rejects.toThrow(
      "ECONNRESET",
    );
    expect(pay).toHaveBeenCalledTimes(1);
    expect(types).toEqual(["tool-call-started", "tool-call-completed"]);
  });

  it("with intended, the host has dispatched the intent already, and the effect acts at once", async () => {
    const { runner, agent, pay } = await paying();
    const effect = runner.next();
    void runner.dispatch({ type: "tool-call-started", toolCallId: "call_1", attempt: 1, timestamp: 1 });
    const { state, dispatch } = runner;
    await performEffect(agent, effect, state, { dispatch, sessionId, intended: true });
    expect(pay).toHaveBeenCalledTimes(1);
    expect(runner.state.toolCalls["call_1"]?.result).toMatchObject({ isSuccess: true, content: "paid" });
  });
});

describe("the signal of work in a runner of one's own", () => {
  /** A runner that aborts work as soon as the state no longer wants it, with what it wants before each dispatch. */
  async function abortingRunner(beforeResult: (runner: Runner) => void = () => undefined): Promise<{
    readonly runner: Runner;
    readonly reasons: readonly unknown[];
    readonly perform: () => Promise<void>;
  }> {
    const reasons: unknown[] = [];
    const pay = toolOf("pay", (_, { signal }) => {
      signal.addEventListener("abort", () => reasons.push(signal.reason));
      return "paid";
    });
    const llm = new MockLlmCaller([callsTools([{ name: "pay" }]), answers("Done.")]);
    const agent = defineAgent({ llm, tools: [pay] });
    const runner = ask(agent, "Pay.");
    await runner.perform();
    const effect = runner.next();
    const abort = new AbortController();
    const dispatch: DispatchBatch = async (...inputs) => {
      const isResult = inputs.some((input) => inputAt(input, runner.state).type === "tool-call-completed");
      if (isResult) beforeResult(runner);
      const hasApplied = await runner.dispatch(...inputs);
      if (effectsAt(runner.state)[effect.key] === undefined) abort.abort("not wanted");
      return hasApplied;
    };
    const options = { dispatch, sessionId, signal: abort.signal };
    return { runner, reasons, perform: () => performEffect(agent, effect, runner.state, options) };
  }

  it("does not abort after its own result has applied", async () => {
    const { runner, reasons, perform } = await abortingRunner();
    await perform();
    expect(runner.state.toolCalls["call_1"]?.result).toMatchObject({ isSuccess: true });
    expect(reasons).toEqual([]);
  });

  it("aborts if a cancel was before its result", async () => {
    const { reasons, perform } = await abortingRunner((runner) => {
      void runner.dispatch({ type: "re-act-cancelled", timestamp: 1 });
    });
    await perform();
    expect(reasons).toEqual(["not wanted"]);
  });
});
