import { wording } from "@moora/agent-core-state-machine/internal";
import type { LlmMessage, LlmRequest, LlmTool } from "@moora/llm";
import { answers, callsTools } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { cacheBreakBetween, defineTool, type CacheBreak, type CacheBreakReason } from "../../src/index.ts";
import { World } from "../world.ts";

const user = (text: string): LlmMessage => ({ role: "user", content: [{ type: "text", text }] });
const note = (text: string): LlmMessage => ({ role: "note", text });
const says = (text: string): LlmMessage => ({
  role: "assistant",
  turn: { origin: "provider/model", parts: [{ type: "text", text }] },
  results: [],
});
const reads = (id: string, content: string): LlmMessage => ({
  role: "assistant",
  turn: { origin: "provider/model", parts: [{ type: "tool-call", id, name: "read", arguments: "{}" }] },
  results: [{ isError: false, content }],
});
const picture = { mediaType: "image/png", name: "cat.png", data: "iVBORw0KGgo=" };
const readTool: LlmTool = { name: "read", description: "Reads.", schema: { type: "object" } };

const base: LlmRequest = {
  purpose: "plan",
  model: "small",
  system: "Be brief.",
  messages: [],
  tools: [readTool],
  toolChoice: "auto",
  parallelToolCalls: true,
  settings: {},
};

const thinking: LlmMessage = {
  role: "assistant",
  turn: {
    origin: "provider/model",
    parts: [
      { type: "reasoning", text: "Hm.", raw: "opaque" },
      { type: "text", text: "A" },
    ],
  },
  results: [],
};

type Case = readonly [
  title: string,
  earlier: Partial<LlmRequest>,
  later: Partial<LlmRequest>,
  broken: CacheBreak | null,
];

const chat = [user("1"), reads("call_1", "row 1"), reads("call_2", "row 2")];
const message = (index: number, reason: CacheBreakReason): CacheBreak => ({
  part: "messages",
  index,
  reason,
});

const cases: readonly Case[] = [
  ["the same request", { messages: chat }, { messages: chat }, null],
  ["one that extends it", { messages: chat }, { messages: [...chat, reads("call_3", "row 3")] }, null],
  ["a beginning of it", { messages: chat }, { messages: chat.slice(0, 2) }, null],
  ["another model", {}, { model: "large", system: "Be long." }, { part: "model" }],
  ["other instructions", {}, { system: "Be long.", tools: [] }, { part: "instructions" }],
  ["other tools", { messages: chat }, { tools: [] }, { part: "tools", names: ["read"] }],
  [
    "other tools of the provider",
    {},
    { settings: { providerTools: { openai: [] } } },
    { part: "tools", names: [] },
  ],
  ["another tool choice", { messages: chat }, { messages: chat, toolChoice: "none" }, { part: "settings" }],
  ["another limit of the answer", {}, { settings: { maxOutputTokens: 100 } }, null],
  [
    "a result that is left out",
    { messages: chat },
    { messages: chat.with(1, reads("call_1", wording.cleared("call_1"))), toolChoice: "none" },
    message(1, "result-left-out"),
  ],
  [
    "a summary in place of turns",
    { messages: [user("1"), says("A"), user("2"), says("B"), user("3")] },
    { messages: [user("1"), user("2"), note("Summary of the work so far: AB."), user("3")] },
    message(1, "summarized"),
  ],
  [
    "a second summary",
    { messages: [user("1"), note("Summary of the work so far: A."), says("B"), says("C")] },
    { messages: [user("1"), note("Summary of the work so far: AB."), says("C")] },
    message(1, "summarized"),
  ],
  [
    "a second summary with the text of the first",
    { messages: [user("1"), note("Summary of the work so far: A."), user("2"), says("B"), user("3")] },
    { messages: [user("1"), user("2"), note("Summary of the work so far: A."), user("3")] },
    message(1, "summarized"),
  ],
  [
    "a window that has moved before a summary",
    { messages: [user("1"), user("2"), note("Summary of the work so far: A."), says("B")] },
    { messages: [user("2"), note("Summary of the work so far: A."), says("B")] },
    message(0, "window-moved"),
  ],
  [
    "a window that has moved",
    { messages: [user("1"), says("A"), user("2"), says("B"), user("3")] },
    { messages: [user("2"), says("B"), user("3"), says("C"), user("4")] },
    message(0, "window-moved"),
  ],
  [
    "a window that has moved between equal messages",
    { messages: [user("Next."), says("A"), user("Next."), says("B"), user("Next.")] },
    { messages: [user("Next."), says("B"), user("Next."), says("C"), user("Next.")] },
    message(1, "window-moved"),
  ],
  [
    "a window that is wider",
    { messages: [user("2"), says("B")] },
    { messages: [user("1"), says("A"), user("2"), says("B")] },
    message(0, "window-moved"),
  ],
  [
    "a file that became its name",
    { messages: [{ role: "user", content: [{ type: "file", file: picture }] }] },
    { messages: [user("(File not shown: cat.png (image/png).)")] },
    message(0, "files-left-out"),
  ],
  [
    "reasoning that is left out",
    { messages: [user("1"), thinking] },
    { messages: [user("1"), neutral("A")] },
    message(1, "reasoning-left-out"),
  ],
  ["another message", { messages: [user("1")] }, { messages: [user("2")] }, message(0, "changed")],
  [
    "a note at the end that another message replaces",
    { messages: [user("1"), says("A"), note("Continue.")] },
    { messages: [user("1"), says("A"), user("2")] },
    message(2, "changed"),
  ],
];

function neutral(text: string): LlmMessage {
  return { role: "assistant", turn: { origin: "", parts: [{ type: "text", text }] }, results: [] };
}

describe("what breaks the cache of a provider", () => {
  it.each(cases)("is named for %s", (_, earlier, later, broken) =>
    expect(cacheBreakBetween({ ...base, ...earlier }, { ...base, ...later })).toEqual(broken),
  );

  it("is, in a long loop, only what the plan of the context leaves out", async () => {
    const read = defineTool({
      name: "read",
      description: "Reads a row.",
      input: z.object({ n: z.number() }),
      execute: ({ n }) => `row ${n} `.repeat(300),
    });
    const calls = Array.from({ length: 20 }, (_, n) => callsTools([{ name: "read", arguments: { n } }]));
    const world = new World({
      tools: [read],
      script: [...calls, answers("Done.")],
      config: { context: { maxInputTokens: 4_000, keepNewest: 2, summarize: false } },
    });
    await world.say("Read all rows.").settle();
    const { requests } = world.llm;
    const breaks = requests.flatMap((later, index) => {
      const earlier = requests[index - 1];
      return (earlier === undefined ? null : cacheBreakBetween(earlier, later)) ?? [];
    });
    const [first, ...others] = breaks;
    expect(first).toEqual({
      part: "tools",
      names: ["load_older_messages", "find_tool_calls", "load_tool_results"],
    });
    expect(others).toEqual(others.map(() => expect.objectContaining({ reason: "result-left-out" })));
    expect(others.length).toBeGreaterThan(1);
    expect(breaks.length).toBeLessThan(10);
  });
});
