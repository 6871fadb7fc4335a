import type { LlmCaller } from "@moora/llm";
import { answers, callsTools, hangs, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, startSession, type AgentEvent, type AgentRun, type Session } from "../../src/index.ts";
import { scene, settled, toolOf } from "../support.ts";
import { graphOf } from "@moora/testbed/graph-of";

const wordsOf = (count: number): string => Array.from({ length: count }, (_, index) => `w${index} `).join("");

const readAll = async (run: AgentRun): Promise<readonly AgentEvent[]> => {
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
};

const textIn = (events: readonly AgentEvent[]): string =>
  events.map((event) => (event.type === "LlmToken" ? event.text : "")).join("");

/** A session whose model answers with so many words, which come one by one. */
const talkative = (words: number): Session =>
  startSession(defineAgent({ llm: new MockLlmCaller(() => answers(wordsOf(words))) }));

describe("the events of a run that nothing reads", () => {
  it("are kept as they came, up to a thousand", async () => {
    const session = talkative(900);
    const run = session.ask("go");
    await session.settled();
    await settled();
    const events = await readAll(run);
    expect(events.filter(({ type }) => type === "LlmToken")).toHaveLength(900);
    expect(events.at(-1)).toMatchObject({ type: "FinalAnswer" });
  });

  it("are joined beyond that: of a long answer no word is missing", async () => {
    const session = talkative(5_000);
    const run = session.ask("go");
    await session.settled();
    await settled();
    const events = await readAll(run);
    expect(events.length).toBeLessThanOrEqual(1_001);
    expect(textIn(events)).toBe(wordsOf(5_000));
    expect(events.at(-1)).toMatchObject({ type: "FinalAnswer" });
  });

  it("are joined for each part: of two calls no argument is missing", async () => {
    const texts = ["a", "b"].map((letter) => JSON.stringify({ text: letter.repeat(2_000) }));
    const llm: LlmCaller = {
      name: "own",
      call: (_, options) => {
        for (const [index, text] of texts.entries()) {
          options?.onChunk?.({ type: "tool-call", index, name: "write" });
          for (const piece of text) options?.onChunk?.({ type: "tool-call-delta", index, text: piece });
          options?.onChunk?.({ type: "part-end", index });
        }
        return Promise.resolve(answers("Done."));
      },
    };
    const session = startSession(defineAgent({ llm }));
    const run = session.ask("go");
    await session.settled();
    await settled();
    const events = await readAll(run);
    expect(events.length).toBeLessThanOrEqual(1_001);
    const drafts: Record<string, string> = {};
    for (const event of events) {
      if (event.type !== "LlmToolCallDelta") continue;
      const { toolCallId, offset, text } = event;
      drafts[toolCallId] = (drafts[toolCallId] ?? "").slice(0, offset) + text;
    }
    expect(drafts).toEqual({ call_1: texts[0], call_2: texts[1] });
  });

  it("are the newest ones where joining is not enough, and all questions", async () => {
    const steps = 400;
    const script = (_: unknown, call: number): MockStep => {
      if (call === 0) return callsTools([{ name: "pay" }]);
      return call < steps ? callsTools([{ name: "look" }]) : answers("Done.");
    };
    const { session } = scene(script, {
      tools: [toolOf("look"), toolOf("pay", () => "paid", { approval: "always" })],
      config: { limits: { maxSteps: 1_000, maxRepeatedCalls: 0 } },
    });
    const run = session.ask("go");
    await settled();
    for (const question of session.questions()) await session.decide(question, "approve");
    await session.settled();
    await settled();
    const events = await readAll(run);
    expect(events.length).toBeLessThanOrEqual(1_001);
    expect(events[0]).toMatchObject({ type: "ApprovalRequested", name: "pay" });
    expect(events.slice(-2)).toMatchObject([
      { type: "StateStarted", state: "Done" },
      { type: "FinalAnswer", text: "Done." },
    ]);
  });

  it("are dropped where the run is awaited before anything reads them", async () => {
    const session = talkative(10);
    const run = session.ask("go");
    await run;
    expect(await readAll(run)).toEqual([]);
  });
});

describe("a reader that stays behind", () => {
  it("has its unread events joined, and misses no word", async () => {
    const session = talkative(5_000);
    const run = session.ask("go");
    const reader = run[Symbol.asyncIterator]();
    const [first] = [(await reader.next()).value];
    await session.settled();
    await settled();
    const events: AgentEvent[] = first === undefined ? [] : [first];
    for (let next = await reader.next(); next.done !== true; next = await reader.next())
      events.push(next.value);
    expect(events.length).toBeLessThanOrEqual(1_002);
    expect(textIn(events)).toBe(wordsOf(5_000));
  });
});

describe("the trace of a session", () => {
  it("is the same object until the next move", async () => {
    const { session } = scene([answers("It is 4."), hangs()]);
    await session.ask("2+2?");
    const before = session.trace();
    expect(session.trace()).toBe(before);
    await session.send("and 3+3?");
    expect(session.trace()).not.toBe(before);
    expect(before.length).toBe(2);
    expect(session.trace().length).toBe(3);
    await session.close();
  });

  it("has the newest moves of a session that runs for ever, and no more than twice ten thousand", async () => {
    const turnsPerLoop = 900;
    let turns = 0;
    const agent = defineAgent({
      llm: new MockLlmCaller(() => answers("Hi.")),
      config: {
        graph: graphOf({
          Planning: { LlmFinalAnswer: "Turning" },
          Turning: { Again: "Turning", Enough: "Done" },
        }),
      },
      states: { Turning: () => ((turns += 1) % turnsPerLoop === 0 ? "Enough" : "Again") },
    });
    const session = startSession(agent);
    const lengths: number[] = [];
    for (let loop = 1; loop <= 35; loop += 1) {
      const { trace } = await session.ask("Turn.");
      expect(trace.length).toBe(turnsPerLoop + 2);
      lengths.push(session.trace().length);
    }
    expect(Math.max(...lengths)).toBeLessThanOrEqual(20_000);
    expect(lengths.at(-1)).toBeGreaterThanOrEqual(10_000);
    expect(session.trace().entries.at(-1)).toMatchObject({ to: "Done", loop: 35 });
  });
});
