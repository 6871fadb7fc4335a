import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  applyInputs,
  defineAgent,
  defineData,
  defineTool,
  effectsAt,
  initialStateOf,
  performEffect,
  userMessage,
  type Agent,
  type AgentInput,
  type AgentState,
  type DataContext,
  type DispatchedInput,
} from "../src/index.ts";
import { graphOf } from "@moora/testbed/graph-of";

const count = defineData({ schema: z.object({ n: z.number() }), initial: { n: 0 } });

type Context = DataContext<{ n: number }>;

const setTo7 = (draft: { n: number }): void => void (draft.n = 7);

/** What a later release records that makes a text of the number. */
const conversion: AgentInput = {
  type: "data-changed",
  patches: [{ op: "replace", path: "", value: { n: "0" } }],
  by: "agent",
  version: 2,
  timestamp: 2,
};

/** A session that several processes run, of which this one has an earlier release. */
class SharedState {
  #state: AgentState;

  constructor(agent: Agent<unknown>) {
    this.#state = applyInputs(initialStateOf(agent), [userMessage("Go.", { timestamp: 1 })]).state;
  }

  get state(): AgentState {
    return this.#state;
  }

  apply(...inputs: readonly DispatchedInput[]): boolean {
    const { state, applied } = applyInputs(this.#state, inputs);
    this.#state = state;
    return applied > 0;
  }

  /** Performs the effects of the state until an effect of a type has been performed. */
  async performTo(agent: Agent<unknown>, type: "call-llm" | "call-tool" | "run-state"): Promise<void> {
    for (;;) {
      const [effect] = Object.values(effectsAt(this.#state));
      if (effect === undefined) throw new Error("The state wants no effect.");
      const dispatch = (...inputs: readonly DispatchedInput[]): boolean => this.apply(...inputs);
      await performEffect(agent, effect, this.#state, { sessionId: "one", dispatch });
      if (effect.type === type) return;
    }
  }
}

function agentWithTool(execute: (context: Context) => unknown): Agent<unknown> {
  const work = defineTool({
    name: "work",
    description: "Works.",
    input: z.object({}),
    replay: "safe",
    data: count,
    execute: (_, context) => execute(context),
  });
  const llm = new MockLlmCaller(() => callsTools([{ name: "work" }]));
  return defineAgent({ llm, data: count, tools: [work] }) as Agent<unknown>;
}

function agentWithHandler(handle: (context: Context) => void): Agent<unknown> {
  const llm = new MockLlmCaller(() => answers("Done."));
  return defineAgent({
    llm,
    data: count,
    states: {
      Check: (_, context) => {
        handle(context);
        return "Good";
      },
    },
    config: {
      graph: graphOf({ Planning: { LlmFinalAnswer: "Check" }, Check: { Good: "Done" } }),
    },
  }) as Agent<unknown>;
}

const refusal = "it has version 2, and this agent has version 1.";

describe("data that a later release has converted", () => {
  const changes: readonly (readonly [string, (context: Context) => unknown])[] = [
    ["its result", ({ update }) => void update(setTo7)],
    ["update.now", async ({ update }) => void (await update.now(setTo7))],
  ];

  it.each(changes)("is not changed by a tool of an earlier one with %s", async (_, change) => {
    const agent = agentWithTool(async (context) => {
      session.apply(conversion);
      await change(context);
      return "worked";
    });
    const session = new SharedState(agent);
    await session.performTo(agent, "call-tool");
    const { data, toolCalls } = session.state;
    expect(data).toEqual({ n: "0" });
    expect(toolCalls["call_1"]?.result).toMatchObject({
      isSuccess: false,
      code: "data-refused",
      error: expect.stringContaining(refusal),
    });
  });

  it("is not changed by a handler of an earlier one", async () => {
    const agent = agentWithHandler(({ update }) => {
      update(setTo7);
      session.apply(conversion);
    });
    const session = new SharedState(agent);
    await session.performTo(agent, "run-state");
    expect(session.state.data).toEqual({ n: "0" });
    expect(session.state.reActContext.control).toMatchObject({ type: "Error" });
    expect(JSON.stringify(session.state)).toContain(refusal);
  });

  it("is not shown to a tool of an earlier one, which does not run", async () => {
    let runs = 0;
    const agent = agentWithTool(() => (runs += 1));
    const session = new SharedState(agent);
    await session.performTo(agent, "call-llm");
    session.apply(conversion);
    await session.performTo(agent, "call-tool");
    expect(session.state.toolCalls["call_1"]?.result).toMatchObject({ code: "data-refused" });
    expect(runs).toBe(0);
  });

  it("is not shown to a handler of an earlier one, which does not run", async () => {
    let runs = 0;
    const agent = agentWithHandler(() => void (runs += 1));
    const session = new SharedState(agent);
    await session.performTo(agent, "call-llm");
    session.apply(conversion);
    await session.performTo(agent, "run-state");
    expect(JSON.stringify(session.state)).toContain(refusal);
    expect(runs).toBe(0);
  });
});
