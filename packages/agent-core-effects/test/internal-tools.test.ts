import { agentTransition, replay, type AgentState } from "@moora/agent-core-state-machine";
import type { LlmMessage, LlmRequest } from "@moora/llm";
import { answers, callsTools, fails } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineTool, llmRequestAt } from "../src/index.ts";
import { internalTools } from "../src/internal.ts";
import { World, type WorldOptions } from "./world.ts";

const search = defineTool({
  name: "search",
  description: "Searches.",
  input: z.object({ for: z.string() }),
  execute: (input) => `found ${input.for}`,
});

/** Those that load what a request leaves out. */
const names = internalTools.map(({ name }) => name).filter((name) => name !== "search_tools");
const offered = (request: LlmRequest | undefined): readonly string[] =>
  (request?.tools ?? []).map(({ name }) => name);
const said = (messages: readonly LlmMessage[] = []): string => JSON.stringify(messages);

/** Some questions, each answered after a search, in a window that is too small for all of them. */
async function talked(count: number, options: WorldOptions = {}): Promise<World> {
  const world = new World({
    script: (_, call) =>
      call % 2 === 0
        ? callsTools([{ name: "search", arguments: { for: `thing ${call / 2 + 1}` } }])
        : answers(`answer ${(call + 1) / 2}`),
    tools: [search],
    config: { window: { initialSize: 6, expandBy: 12 } },
    ...options,
  });
  for (let loop = 1; loop <= count; loop += 1) await world.say(`question ${loop}`).settle();
  return world;
}

/** The same conversation with another model from here on. */
const continueIn = (world: World, options: WorldOptions): World =>
  new World({ tools: [search], state: world.state, ...options });

describe("the internal tools", () => {
  it("are offered only where there is something to load", async () => {
    const few = await talked(1);
    expect(few.llm.requests.every((request) => offered(request).join() === "search")).toBe(true);
    const many = await talked(4);
    expect(offered(many.llm.requests.at(-1))).toEqual(["search", ...names]);
  });

  it("are offered where a summary hides something, too", async () => {
    const world = new World({
      script: [
        callsTools([{ name: "search", arguments: { for: "x" } }]),
        answers("All known."),
        answers("Done."),
      ],
      tools: [search],
      config: { reflection: { everyNSteps: 1 } },
    });
    await world.say("q").settle();
    expect(world.llm.requests.map(offered)).toEqual([["search"], [], ["search", ...names]]);
  });

  it("give way to a tool of the host's own that has the name", async () => {
    const own = { search: search.definition, find_tool_calls: search.definition };
    const world = await talked(4, { definitions: own });
    const last = offered(world.llm.requests.at(-1));
    expect(last.filter((name) => name === "find_tool_calls")).toHaveLength(1);
    expect(last).toContain("load_older_messages");
  });

  it("load_older_messages brings back what no longer fitted, and the turn keeps the call with its answer", async () => {
    const world = continueIn(await talked(4), {
      script: [callsTools([{ name: "load_older_messages" }]), answers("Seen.")],
    });
    await world.say("What was the first thing?").settle();
    const [before, after] = world.llm.requests;
    expect(said(before?.messages)).not.toContain("question 1");
    expect(said(after?.messages)).toContain("question 1");
    expect(said(after?.messages)).toContain("Older messages are in view from now on.");
    expect(Object.keys(world.state.toolCalls)).toEqual(["call_1", "call_2", "call_3", "call_4"]);
    expect(world.state.reActContext.step).toBe(2);
  });

  it("find_tool_calls finds calls by name, arguments and results, newest first", async () => {
    const world = continueIn(await talked(4), {
      script: [
        callsTools([
          { name: "find_tool_calls", arguments: { text: "thing" } },
          { name: "find_tool_calls", arguments: { text: "found thing 2" } },
          { name: "find_tool_calls", arguments: { text: "nowhere" } },
          { name: "find_tool_calls", arguments: { txt: "thing" } },
          { name: "find_tool_calls", arguments: "[" },
        ]),
        answers("Seen."),
      ],
    });
    await world.say("Which?").settle();
    const found = world.results.slice(-5);
    expect(found.map(({ content }) => content)).toEqual([
      [4, 3, 2, 1].map((n) => `call_${n}: search({"for":"thing ${n}"}) succeeded`).join("\n"),
      'call_2: search({"for":"thing 2"}) succeeded',
      "No call was found.",
      "The argument text is missing.",
      "The arguments are not valid JSON: Unexpected end of JSON input. You sent: [",
    ]);
    expect(found.map(({ isError }) => isError)).toEqual([false, false, false, true, true]);
  });

  it("find_tool_calls finds calls that failed, too, by their error", async () => {
    const broken = defineTool({
      name: "broken",
      description: "Fails.",
      input: z.object({}),
      execute: () => {
        throw new Error("Out of paper.");
      },
    });
    const world = new World({
      script: [
        callsTools([{ name: "broken" }]),
        callsTools([{ name: "find_tool_calls", arguments: { text: "paper" } }]),
        answers("Seen."),
      ],
      tools: [broken],
    });
    await world.say("q").settle();
    expect(world.results.at(-1)).toEqual({ isError: false, content: "call_1: broken({}) failed" });
  });

  it("load_older_messages says so where everything is in view, also without arguments", async () => {
    const world = new World({
      script: [callsTools([{ name: "load_older_messages", arguments: " " }]), answers("Seen.")],
    });
    await world.say("q").settle();
    expect(world.results).toEqual([
      { isError: false, content: "All messages of this conversation are in view." },
    ]);
  });

  it("find_tool_calls finds twenty at most", async () => {
    const calls = Array.from({ length: 25 }, (_, index) => ({
      name: "search",
      arguments: { for: `${index}` },
    }));
    const world = new World({
      script: [
        callsTools(calls),
        callsTools([{ name: "find_tool_calls", arguments: { text: "" } }]),
        answers(""),
      ],
      tools: [search],
    });
    await world.say("q").settle();
    expect(world.results.at(-1)?.content.split("\n")).toHaveLength(20);
    expect(world.results.at(-1)?.content).toMatch(/^call_25: /);
  });

  it("load_tool_results brings results back, each once, in a round of their own", async () => {
    const world = continueIn(await talked(4), {
      script: [
        callsTools([
          {
            name: "load_tool_results",
            arguments: { ids: ["call_1", "call_1", 2, "call_99", "__proto__", null] },
          },
        ]),
        answers("Seen."),
      ],
    });
    await world.say("What did the first ones find?").settle();
    const messages = world.llm.requests.at(-1)?.messages ?? [];
    const round = messages.at(-1);
    expect(said(messages)).toContain("In view from now on: call_1, call_2.");
    expect(round?.role === "assistant" && round.results.map(({ content }) => content)).toEqual([
      "found thing 1",
      "found thing 2",
    ]);
    expect(world.state.reActContext.toolCallIds).toEqual(["call_1", "call_2"]);
  });

  it("load_tool_results takes a number for the id of the call with that number, and an id as it is", async () => {
    const world = continueIn(await talked(4), {
      script: [
        callsTools([{ name: "load_tool_results", arguments: { ids: [1, "2", "call_2", "03"] } }]),
        answers("Seen."),
      ],
    });
    const result = { isSuccess: true, content: "of the host", receivedAt: 1 } as const;
    world.say("Another.").apply(
      {
        type: "re-act-observed",
        calledLlmAt: 1,
        timestamp: 1,
        observation: {
          type: "continue-re-act",
          toolCalls: { 2: { name: "search", parameters: "{}", calledAt: 1 } },
        },
      },
      { type: "tool-call-completed", toolCallId: "2", result, timestamp: 1 },
    );
    await world.settle();
    expect(world.results.map(({ content }) => content)).toContain("In view from now on: call_1, 2, call_2.");
  });

  it.each([100, 100_000])(
    "arguments that nest %i levels deep do not overflow the stack, and the loop continues",
    async (levels) => {
      const nested = `{"ids":${"[".repeat(levels)}${"]".repeat(levels)},"text":"x"}`;
      const calls = names.map((name) => ({ name, arguments: nested }));
      const world = continueIn(await talked(4), { script: [callsTools(calls), answers("Seen.")] });
      await world.say("Load it.").settle();
      const results = world.results.slice(-3);
      expect(results.every(({ isError }) => isError)).toBe(levels > 128);
      expect(results[2]?.isError).toBe(true);
      expect(world.state.reActContext.control.type).toBe("Done");
    },
  );

  it("load_tool_results fails where no id is a finished call", async () => {
    const world = continueIn(await talked(4), {
      script: [
        callsTools([
          { name: "load_tool_results", arguments: { ids: [] } },
          { name: "load_tool_results", arguments: { ids: "call_1" } },
          { name: "load_tool_results" },
        ]),
        answers("Seen."),
      ],
    });
    await world.say("q").settle();
    expect(world.results.slice(-3)).toEqual(
      Array.from({ length: 3 }, () => ({ isError: true, content: "None of these ids is a finished call." })),
    );
  });

  it("find and load the calls of a loop that was withheld: what happened is never withheld", async () => {
    const refused = new World({
      script: [callsTools([{ name: "search", arguments: { for: "poison" } }]), fails("refusal")],
      tools: [search],
    });
    await refused.say("bad").settle();
    const world = continueIn(refused, {
      script: [
        callsTools([
          { name: "find_tool_calls", arguments: { text: "poison" } },
          { name: "load_tool_results", arguments: { ids: ["call_1"] } },
        ]),
        answers("Done."),
      ],
    });
    await world.say("good").settle();
    expect(world.results.map(({ content }) => content)).toEqual([
      expect.stringMatching(/^call_1: search\(.*\) succeeded$/),
      "In view from now on: call_1.",
      "found poison",
    ]);
  });

  it("work in one turn with other calls, and the order of results is that of the calls", async () => {
    const world = continueIn(await talked(4), {
      script: [
        callsTools([
          { name: "search", arguments: { for: "a" } },
          { name: "find_tool_calls", arguments: { text: "thing 4" } },
          { name: "search", arguments: { for: "b" } },
        ]),
        answers("Done."),
      ],
    });
    await world.say("q").settle();
    expect(world.results.slice(-3).map(({ content }) => content)).toEqual([
      "found a",
      'call_4: search({"for":"thing 4"}) succeeded',
      "found b",
    ]);
  });

  it("are part of the log: what is replayed sends the same request", async () => {
    const world = continueIn(await talked(4), {
      script: [callsTools([{ name: "load_older_messages" }]), answers("Seen.")],
    });
    const from: AgentState = world.state;
    await world.say("q").settle();
    world.inputs.reduce((state, input, index) => {
      const next = agentTransition(input)(state);
      const replayed = replay(world.inputs.slice(0, index + 1), structuredClone(from));
      expect(JSON.stringify(llmRequestAt(replayed))).toBe(JSON.stringify(llmRequestAt(next)));
      return next;
    }, from);
  });
});
