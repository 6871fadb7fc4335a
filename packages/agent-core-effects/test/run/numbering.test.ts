import { answers, callsTools } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineTool } from "../../src/index.ts";
import { World } from "../world.ts";

const ran: unknown[] = [];
const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  input: z.looseObject({}),
  execute: (input) => {
    ran.push(input);
    return input;
  },
});

const callsIn = (world: World): readonly string[] =>
  (world.llm.requests.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === "assistant"
      ? message.turn.parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))
      : [],
  );

describe("the calls of a session are numbered, whatever ids a provider gives", () => {
  it("two calls of one id and different arguments both run once, and their results are not mixed (E01)", async () => {
    ran.length = 0;
    const twins = callsTools([
      { id: "same", name: "echo", arguments: { n: 1 } },
      { id: "same", name: "echo", arguments: { n: 2 } },
    ]);
    const world = await new World({ script: [twins, answers("Done.")], tools: [echo] }).say("q").settle();
    expect(ran).toEqual([{ n: 1 }, { n: 2 }]);
    expect(world.results.map(({ content }) => content)).toEqual(['{"n":1}', '{"n":2}']);
    expect(callsIn(world)).toEqual(["call_1", "call_2"]);
  });

  it("one id in five turns names five calls, each with its result right after its turn (E02)", async () => {
    const turns = [1, 2, 3, 4, 5].map((n) => callsTools([{ id: "same", name: "echo", arguments: { n } }]));
    const world = await new World({ script: [...turns, answers("Done.")], tools: [echo] }).say("q").settle();
    expect(callsIn(world)).toEqual(["call_1", "call_2", "call_3", "call_4", "call_5"]);
    expect(world.results.map(({ content }) => content)).toEqual([1, 2, 3, 4, 5].map((n) => `{"n":${n}}`));
  });

  it("hostile and empty ids are data, and never keys (J01)", async () => {
    const hostile = ["__proto__", "constructor", "", "toString", "then", "\ud800", "x".repeat(10_000)];
    const turn = callsTools(hostile.map((id, n) => ({ id, name: "echo", arguments: { n } })));
    const world = await new World({ script: [turn, answers("Done.")], tools: [echo] }).say("q").settle();
    expect(callsIn(world)).toEqual(hostile.map((_, index) => `call_${index + 1}`));
    expect(world.results.map(({ content }) => content)).toEqual(hostile.map((_, n) => `{"n":${n}}`));
    expect(JSON.stringify(world.inputs)).not.toContain("x".repeat(100));
  });

  it("ids that a host gave stay, and new numbers pass them by (A09)", async () => {
    const world = new World({ script: [callsTools([{ name: "echo" }]), answers("Done.")], tools: [echo] });
    const names = ["10", "2", "b", "a", "1e3"];
    const calls = names.map((id) => [id, { name: "echo", parameters: "{}", calledAt: 1 }]);
    world.say("q").apply({
      type: "re-act-observed",
      calledLlmAt: 1,
      timestamp: 1,
      observation: { type: "continue-re-act", toolCalls: Object.fromEntries(calls) },
      turn: { origin: "host", parts: names.map((toolCallId) => ({ type: "call", toolCallId })) },
    });
    for (const id of ["b", "10", "1e3", "a", "2"]) {
      world.apply({
        type: "tool-call-completed",
        toolCallId: id,
        result: { isSuccess: true, content: `of ${id}`, receivedAt: 1 },
        timestamp: 1,
      });
    }
    await world.settle();
    expect(callsIn(world)).toEqual([...names, "call_6"]);
    expect(world.results.map(({ content }) => content).slice(0, 5)).toEqual(names.map((id) => `of ${id}`));
  });

  it("a number that a host has taken already is passed by", async () => {
    const world = new World({
      script: [callsTools([{ name: "echo" }, { name: "echo" }]), answers("Done.")],
      tools: [echo],
    });
    world.say("q").apply(
      {
        type: "re-act-observed",
        calledLlmAt: 1,
        timestamp: 1,
        observation: {
          type: "continue-re-act",
          toolCalls: { call_2: { name: "echo", parameters: "{}", calledAt: 1 } },
        },
      },
      {
        type: "tool-call-completed",
        toolCallId: "call_2",
        result: { isSuccess: true, content: "of the host", receivedAt: 1 },
        timestamp: 1,
      },
    );
    await world.settle();
    expect(callsIn(world)).toEqual(["call_2", "call_3", "call_4"]);
    expect(world.state.reActContext.control.type).toBe("Done");
  });

  it("a call keeps its arguments as the model wrote them, and shows {} for what is not an object", async () => {
    const texts = ['{ "n" : 1 }', "[1]", "{bad", ""];
    const turn = callsTools(texts.map((text) => ({ name: "echo", arguments: text })));
    const world = await new World({ script: [turn, answers("Done.")], tools: [echo] }).say("q").settle();
    expect(Object.values(world.state.toolCalls).map(({ parameters }) => parameters)).toEqual(texts);
    const shown = world.llm.requests
      .at(-1)
      ?.messages.flatMap((message) =>
        message.role === "assistant"
          ? message.turn.parts.flatMap((part) => (part.type === "tool-call" ? [part.arguments] : []))
          : [],
      );
    expect(shown).toEqual(['{ "n" : 1 }', "{}", "{}", "{}"]);
    expect(world.results.map(({ isError }) => isError)).toEqual([false, true, true, false]);
    expect(world.results[2]?.content).toContain("You sent: {bad");
  });
});
