import { startSession } from "@moora/agent";
import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AgentBuilder } from "../../src/builder/agent-builder.ts";
import type { AgentEngine } from "../../src/builder/agent-engine.ts";
import { answer, errorOf, eventsOf, movesOf, stateOf, task } from "./support/runs.ts";
import { weatherIn, weatherTool } from "./support/tools.ts";

const engineOf = (llm: MockLlmCaller = new MockLlmCaller(() => answers(answer))): AgentEngine =>
  new AgentBuilder(task).llm(llm).build();

describe("an engine before its run", () => {
  it("is idle, with its task and an empty trace", () => {
    const engine = engineOf();
    expect(engine.currentState()).toBe("Idle");
    expect(engine.memory()).toMatchObject({ task, state: "Idle", step: 0, history: [], finalAnswer: null });
    expect(engine.trace().entries).toEqual([]);
  });
});

describe("an engine runs once", () => {
  const refusal = { kind: "Conflict", reason: "AlreadyRun" };

  it("and rejects a second run by any method", async () => {
    const llm = new MockLlmCaller(() => answers(answer));
    const engine = engineOf(llm);
    await engine.run();
    expect(await errorOf(engine.run())).toMatchObject(refusal);
    expect(await errorOf(eventsOf(engine))).toMatchObject(refusal);
    expect(llm.callCount).toBe(1);
    expect(engine.memory().finalAnswer).toBe(answer);
  });

  it("also while the first run is in progress", async () => {
    const engine = engineOf();
    const first = engine.run();
    expect(await errorOf(engine.run())).toMatchObject(refusal);
    expect(await first).toBe(answer);
  });

  it("and its builder builds another one", async () => {
    const builder = new AgentBuilder(task).llm(new MockLlmCaller(() => answers(answer)));
    const [first, second] = [builder.build(), builder.build()];
    await first.run();
    expect(second.currentState()).toBe("Idle");
    expect(await second.run()).toBe(answer);
  });

  it("and a session continues from its state", async () => {
    const llm = new MockLlmCaller(() => answers(answer));
    const engine = engineOf(llm);
    await engine.run();
    const session = startSession(engine.agent, { state: engine.state });
    await session.ask("And in Rome?");
    expect(llm.requests[1]?.messages).toMatchObject([
      { role: "user", content: [{ text: task }] },
      { role: "assistant", turn: { parts: [{ text: answer }] } },
      { role: "user", content: [{ text: "And in Rome?" }] },
    ]);
  });
});

describe("two engines at once", () => {
  it("share nothing", async () => {
    const [asked, askedToo]: [string[], string[]] = [[], []];
    const one = new AgentBuilder("What of Oslo?")
      .llm(new MockLlmCaller([callsTools([weatherIn("Oslo")]), answers(answer)]))
      .tool(weatherTool(asked))
      .build();
    const other = new AgentBuilder("What of Rome?")
      .llm(new MockLlmCaller(() => callsTools([weatherIn("Rome")])))
      .tool(weatherTool(askedToo))
      .maxSteps(3)
      .build();
    const [text, error] = await Promise.all([one.run(), errorOf(other.run())]);
    expect(text).toBe(answer);
    expect(error.reason).toBe("MaxSteps");
    expect([asked, askedToo]).toEqual([["Oslo"], ["Rome", "Rome", "Rome"]]);
    expect(one.memory()).toMatchObject({ task: "What of Oslo?", step: 2, error: null });
    expect(other.memory()).toMatchObject({ task: "What of Rome?", step: 3, finalAnswer: null });
    expect(movesOf(one)).toHaveLength(5);
    expect(Object.keys(one.state.toolCalls)).toEqual(["call_1"]);
    expect(Object.keys(stateOf(error).toolCalls)).toEqual(["call_1", "call_2", "call_3"]);
  });
});

it("the error of an engine names the code that ran it", async () => {
  const answerOrder = (): Promise<string> => engineOf(new MockLlmCaller([fails("auth")])).run();
  expect((await errorOf(answerOrder())).stack).toContain("answerOrder");
});
