import { answers, callsTools, fails, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import { memoryLog } from "@moora/event-log";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineAgent, openSession, startSession, type AgentEvent } from "../../src/index.ts";
import { failureOf, scene, settled, toolOf } from "../support.ts";
import { graphOf } from "@moora/testbed/graph-of";

/** A model that waits for a signal before its first answer. */
const slow = (...steps: readonly MockStep[]) => {
  const begin = Promise.withResolvers<void>();
  const script = async (_: unknown, call: number): Promise<MockStep> => {
    if (call === 0) await begin.promise;
    return steps[call] ?? answers(`answer ${call + 1}`);
  };
  return { script, begin: begin.resolve };
};

describe("two messages that are asked at once", () => {
  it("have an answer each", async () => {
    const { session } = scene((_, call) => answers(`answer ${call + 1}`));
    const [a, b] = await Promise.all([session.ask("a"), session.ask("b")]);
    expect([a.text, b.text]).toEqual(["answer 1", "answer 2"]);
    expect(session.current().messages.map(({ content }) => content)).toEqual([
      "a",
      "answer 1",
      "b",
      "answer 2",
    ]);
  });

  it("have an answer each in a log, from the process that runs the session and from one that posts", async () => {
    const log = memoryLog();
    const { script, begin } = slow();
    const agent = defineAgent({ llm: new MockLlmCaller(script) });
    await using owner = await openSession(agent, { log, id: "ada" });
    await using poster = await openSession(agent, { log, id: "ada", access: "post" });
    const a = owner.ask("a");
    await untilPasses(() => expect(owner.current().messages).toHaveLength(1));
    await poster.refresh();
    const b = poster.ask("b");
    await untilPasses(() => expect(owner.current().messages).toHaveLength(2));
    begin();
    expect((await a).text).toBe("answer 1");
    expect((await b).text).toBe("answer 2");
  });

  it("have steps, usage and trace up to the answer of each", async () => {
    const usage = { inputTokens: 5 };
    const { session } = scene((_, call) => answers(`answer ${call + 1}`, { usage }));
    const [a, b] = await Promise.all([session.ask("a"), session.ask("b")]);
    expect([a.steps, b.steps]).toEqual([1, 2]);
    expect([a.usage.inputTokens, b.usage.inputTokens]).toEqual([5, 10]);
    expect(a.trace.entries.map(({ event }) => event)).toEqual(["Start", "UserInterjected"]);
    expect(b.trace.entries.map(({ event }) => event)).toEqual(["Start", "UserInterjected", "LlmFinalAnswer"]);
  });

  it("have the type of the agent's answers", async () => {
    const llm = new MockLlmCaller((_, call) => answers(`{"n":${call + 1}}`));
    const session = startSession(defineAgent({ llm, answer: z.object({ n: z.number() }) }));
    const [a, b] = await Promise.all([session.ask("a"), session.ask("b")]);
    expect([a.answer, b.answer]).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

describe("a message that comes while the model is at work", () => {
  it("is answered together with the first one where that had no answer that fits the schema", async () => {
    const { script, begin } = slow(answers("not JSON"), answers('{"n":2}'));
    const llm = new MockLlmCaller(script);
    const session = startSession(defineAgent({ llm, answer: z.object({ n: z.number() }) }));
    const a = session.ask("a");
    const b = session.ask("b");
    begin();
    expect([(await a).answer, (await b).answer]).toEqual([{ n: 2 }, { n: 2 }]);
  });

  it("is answered together with the first one where a tool ran in between", async () => {
    const held = Promise.withResolvers<string>();
    const { session, events } = scene([callsTools([{ name: "wait" }]), answers("Both.")], {
      tools: [toolOf("wait", () => held.promise)],
    });
    const a = session.ask("a");
    await untilPasses(() => expect(events.some(({ type }) => type === "ToolCallStarted")).toBe(true));
    const b = session.ask("b");
    held.resolve("waited");
    expect([(await a).text, (await b).text]).toEqual(["Both.", "Both."]);
  });

  it("is not answered by a retry of the request that it is not in", async () => {
    const { script, begin } = slow(fails("rate-limit", { retryAfterMs: 500 }));
    const { session, clock, events } = scene(script);
    const a = session.ask("a");
    const b = session.ask("b");
    begin();
    await untilPasses(() => expect(events.some(({ type }) => type === "LlmRetryScheduled")).toBe(true));
    clock.advance(500);
    expect([(await a).text, (await b).text]).toEqual(["answer 2", "answer 3"]);
  });

  it("fails with the first one where the model fails", async () => {
    const { script, begin } = slow(fails("auth"));
    const { session } = scene(script);
    const runs = [session.ask("a"), session.ask("b")];
    begin();
    for (const run of runs) expect(await failureOf(run)).toMatchObject({ kind: "LlmError", reason: "auth" });
  });

  it("keeps `running()` waiting for the end of the loop", async () => {
    const { script, begin } = slow();
    const { session } = scene(script);
    const a = session.ask("a");
    const loop = session.running();
    void session.send("b");
    begin();
    expect((await a).text).toBe("answer 1");
    expect((await loop)?.text).toBe("answer 2");
  });

  it("fails as Unanswered where a graph ends the loop before the model has seen it", async () => {
    const held = Promise.withResolvers<string>();
    const llm = new MockLlmCaller([answers("answer 1"), answers("answer 2")]);
    const session = startSession(
      defineAgent({
        llm,
        config: {
          graph: graphOf({ Planning: { LlmFinalAnswer: "Check" }, Check: { Ok: "Done" } }),
        },
        states: { Check: () => held.promise },
      }),
    );
    const a = session.ask("a");
    await untilPasses(() => expect(session.current().reActContext.control.type).toBe("Custom"));
    const b = failureOf(session.ask("b"));
    held.resolve("Ok");
    expect((await a).text).toBe("answer 1");
    expect(await b).toMatchObject({ kind: "AgentFailed", reason: "Unanswered" });
    expect((await session.ask("c")).text).toBe("answer 2");
    expect(JSON.stringify(llm.requests[1]?.messages)).toContain('"b"');
  });

  it("goes along with the loop that takes the place of the one that it waited in", async () => {
    const { script, begin } = slow();
    const { session } = scene(script);
    const a = failureOf(session.ask("a"));
    const b = session.ask("b");
    await session.configure({ interjection: "restart" });
    const c = session.ask("c");
    begin();
    expect(await a).toMatchObject({ kind: "Cancelled" });
    const [second, third] = await Promise.all([b, c]);
    expect(second.text).toBe(third.text);
  });
});

describe("the answer to a message that another one followed", () => {
  it("is a FinalAnswer of the session, after the move that ends it and before the next tokens", async () => {
    const { session, events } = scene((_, call) => answers(`answer${call + 1}`));
    const names: string[] = [];
    const a = session.ask("a");
    const b = session.ask("b");
    for await (const event of b) names.push(nameOf(event));
    await a;
    await settled();
    expect(events.map(nameOf)).toEqual([
      "Start",
      "LlmToken answer1",
      "LlmPartEnded",
      "UserInterjected",
      "FinalAnswer answer1",
      "LlmToken answer2",
      "LlmPartEnded",
      "LlmFinalAnswer",
      "FinalAnswer answer2",
    ]);
    // The answer to another message is not the end of this one.
    expect(names.filter((name) => name.startsWith("FinalAnswer"))).toEqual(["FinalAnswer answer2"]);
  });
});

const nameOf = (event: AgentEvent): string => {
  if (event.type === "StateStarted") return event.event;
  return "text" in event ? `${event.type} ${event.text}` : event.type;
};
