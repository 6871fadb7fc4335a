import { agentTransition, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { defineAgent, openSession, startSession, type Session } from "../../src/index.ts";
import { scene, settled, toolOf } from "../support.ts";

const agent = () =>
  defineAgent({
    llm: new MockLlmCaller(({ messages }) =>
      messages.at(-1)?.role === "user" ? callsTools([{ name: "work" }]) : answers("Done."),
    ),
    tools: [toolOf("work")],
  });

const stateOf = (session: Session): AgentState => {
  const { streaming: _, ...state } = session.current();
  return state;
};

describe("the state of a session, and what comes after it", () => {
  it("is without a gap and without a double where both are read in one go", async () => {
    const session = startSession(agent());
    const seen: { readonly at: number; state: AgentState; seq: number }[] = [];
    // A viewer comes at every input, in the middle of everything.
    session.subscribe(() => {
      const viewer = { at: session.seq(), state: stateOf(session), seq: session.seq() };
      if (seen.some(({ at }) => at === viewer.at)) return;
      seen.push(viewer);
      session.onInput((input, _state, seq) => {
        expect(seq).toBe(viewer.seq + 1);
        viewer.seq = seq;
        viewer.state = agentTransition(input)(viewer.state);
      });
    });
    await session.ask("Work.");
    await session.ask("Again.");
    expect(seen.length).toBeGreaterThan(8);
    for (const { state, seq } of seen) {
      expect(seq).toBe(session.seq());
      expect(state).toEqual(stateOf(session));
    }
  });

  it("settles after the events of its loop, also of a message that nothing waits for", async () => {
    const session = startSession(agent());
    const order: string[] = [];
    session.onEvent(({ type }) => void (type === "FinalAnswer" && order.push(type)));
    await session.send("Work.");
    await session.settled();
    order.push("settled");
    await session.ask("Again.");
    expect(order).toEqual(["FinalAnswer", "settled", "FinalAnswer"]);
  });

  it("is without a gap and without a double where inputs are heard first, and those up to seq() are dropped", async () => {
    const session = startSession(agent());
    const heard: [number, AgentInput][] = [];
    session.onInput((input, _state, seq) => void heard.push([seq, input]));
    const running = session.ask("Work.");
    await settled();
    let state = stateOf(session);
    const read = session.seq();
    await running;
    await session.ask("Again.");
    for (const [seq, input] of heard) if (seq > read) state = agentTransition(input)(state);
    expect(read).toBeGreaterThan(0);
    expect(state).toEqual(stateOf(session));
  });

  it("is without a gap and without a double by seq() and follow(), however much later that is called", async () => {
    await using session = await openSession(agent(), { log: memoryLog(), id: "ada" });
    const views: { readonly state: AgentState; readonly seq: number }[] = [];
    session.subscribe(() => views.push({ state: stateOf(session), seq: session.seq() }));
    await session.ask("Work.");
    const following = views.map(async (view) => {
      let { state, seq } = view;
      await settled();
      await session.follow(seq, (next: number, input: AgentInput) => {
        expect(next).toBe(seq + 1);
        seq = next;
        state = agentTransition(input)(state);
      });
      return () => ({ state, seq });
    });
    await session.ask("Again.");
    for (const read of await Promise.all(following))
      expect(read()).toEqual({ state: stateOf(session), seq: session.seq() });
  });

  it("is given by seq() from the beginning: 0, and in a log the number of its last record", async () => {
    expect(startSession(agent()).seq()).toBe(0);
    const log = memoryLog();
    const session = await openSession(agent(), { log, id: "ada" });
    await session.ask("Work.");
    expect(session.seq()).toBe(session.info().seq);
    await session.close();
    await using reader = await openSession(agent(), { log, id: "ada", access: "read" });
    expect(reader.seq()).toBe(session.seq());
  });

  it("counts what a session does while it is started from a state, and the trace has it", async () => {
    const first = scene([fails("rate-limit", { retryAfterMs: 500 })]);
    await first.session.send("2+2?");
    await untilPasses(() => expect(first.events.at(-1)?.type).toBe("LlmRetryScheduled"));
    const clock = new TestClock(1_000);
    clock.advance(1_000);
    // The wait is over by then: the next attempt is made while the session is started.
    const { session } = scene([answers("It is 4.")], { options: { state: stateOf(first.session), clock } });
    expect(session.seq()).toBe(1);
    await session.settled();
    expect(session.trace().entries.map(({ event }) => event)).toEqual(["LlmRetry", "LlmFinalAnswer"]);
  });
});
