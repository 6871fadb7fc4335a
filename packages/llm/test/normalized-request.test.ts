import { describe, expect, it } from "vitest";
import type { LlmPart } from "@moora/llm";
import { normalizeRequest, type NormalizedRequest } from "@moora/llm/adapter";
import { requestOf, turnOf, userMessage } from "./fixtures.ts";

const reasoningPart: LlmPart = { type: "reasoning", text: "hm", raw: { signature: "s" } };
const call = (id: string, made: string = '{"a": 1}'): LlmPart => ({
  type: "tool-call",
  id,
  name: "add",
  arguments: made,
  raw: { namespace: "n" },
});
const normalized = (messages: Parameters<typeof requestOf>[0], neutral = false): NormalizedRequest =>
  normalizeRequest(requestOf(messages), { origin: "here", neutral });

describe("a normalized request", () => {
  it("contains raw parts of its own origin only (F11)", () => {
    const parts: LlmPart[] = [
      reasoningPart,
      { type: "text", text: "so", raw: 1 },
      { type: "opaque", raw: 2 },
      call("1"),
    ];
    const home = normalized({ messages: [userMessage("Hello"), turnOf(parts, ["3"])] });
    expect(home.messages[1]).toMatchObject({
      parts: [reasoningPart, { raw: 1 }, { raw: 2 }, { id: "1", raw: { namespace: "n" } }],
    });
    const foreign = turnOf(parts, ["3"], "elsewhere");
    for (const away of [
      normalized({ messages: [userMessage("Hello"), foreign] }),
      normalized({ messages: [userMessage("Hello"), turnOf(parts, ["3"])] }, true),
    ]) {
      expect(away.messages[1]).toEqual({
        role: "assistant",
        parts: [
          { type: "text", text: "so" },
          {
            type: "tool-call",
            id: "1",
            name: "add",
            arguments: '{"a": 1}',
            input: { a: 1 },
            result: { isError: false, content: "3" },
          },
        ],
      });
    }
  });

  it("assigns the results to the calls in order, also with text between the calls", () => {
    const parts: LlmPart[] = [call("b"), { type: "text", text: "and" }, call("a"), call("c")];
    const { messages } = normalized({ messages: [turnOf(parts, ["first", " "])] });
    expect(messages).toMatchObject([
      {
        parts: [
          { id: "b", result: { content: "first" } },
          { type: "text" },
          { id: "a", result: { content: "(no output)" } },
          { id: "c", result: { isError: true, content: "(no result)" } },
        ],
      },
    ]);
  });

  it("replaces the id of a call that an earlier call has", () => {
    const { messages } = normalized({
      messages: [turnOf([call("1"), call("1")], ["a", "b"]), turnOf([call("1")], ["c"])],
    });
    const ids = messages.flatMap((message) =>
      message.role === "assistant"
        ? message.parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))
        : [],
    );
    expect(ids[0]).toBe("1");
    expect(new Set(ids).size).toBe(3);
  });

  it("has an empty object for arguments that are not an object", () => {
    const { messages } = normalized({ messages: [turnOf([call("1", "[1]"), call("2", '{"a":')], ["", ""])] });
    expect(messages).toMatchObject([
      {
        parts: [
          { arguments: "{}", input: {} },
          { arguments: "{}", input: {} },
        ],
      },
    ]);
  });

  it("has no blank text, no empty turn and no reasoning at the end of a turn", () => {
    const { messages } = normalized({
      messages: [
        userMessage(" ", "Hello"),
        turnOf([{ type: "text", text: "\n" }]),
        turnOf([reasoningPart, { type: "text", text: "so" }, reasoningPart]),
        turnOf([reasoningPart]),
        { role: "note", text: " " },
        { role: "user", content: [] },
      ],
    });
    expect(messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Hello" }] },
      { role: "assistant", parts: [reasoningPart, { type: "text", text: "so" }] },
      { role: "user", content: [{ type: "text", text: "(empty)" }] },
    ]);
  });

  it("has the names of tools on the wire", () => {
    const tools = ["add", "my tool/ä"].map((name) => ({ name, description: "", schema: {} }));
    const made = normalized({ tools, toolChoice: { name: "my tool/ä" } });
    const [, second] = made.tools.map(({ name }) => name);
    expect(second).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(made.toolChoice).toEqual({ name: second });
    expect(made.tools.map(({ name }) => made.nameOf(name))).toEqual(["add", "my tool/ä"]);
    expect(made.nameOf("unheard_of")).toBe("unheard_of");
  });

  it("has no lone surrogates", () => {
    const half = "\ud83d";
    const made = normalized({
      model: half,
      system: half,
      messages: [userMessage(half), turnOf([call(half, JSON.stringify({ half }))], [half])],
      tools: [{ name: half, description: half, schema: { description: half } }],
      answerSchema: { description: half },
      settings: { stop: [half], providerOptions: { openai: { user: half } } },
    });
    expect(JSON.stringify(made)).not.toMatch(/\\ud83d/);
    expect(made.nameOf(made.tools[0]?.name ?? "")).toBe(half);
  });
});
