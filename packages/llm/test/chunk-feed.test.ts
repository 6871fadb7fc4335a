import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LlmChunk } from "@moora/llm";
import { chunkFeed } from "@moora/llm/adapter";

describe("a chunk feed", () => {
  it("emits a complete text in well-formed chunks, however it is split", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.nat({ max: 5 })), (text, cuts) => {
        const pieces: string[] = [];
        const feed = chunkFeed((chunk) => chunk.type === "text" && pieces.push(chunk.text));
        let at = 0;
        for (const cut of cuts) feed.text(text.slice(at, (at += cut)));
        feed.text(text.slice(at));
        feed.end();
        expect(pieces.join("")).toBe(text);
        expect(pieces.every((piece) => piece.isWellFormed() && piece !== "")).toBe(true);
      }),
    );
  });

  it("emits half a character at the end as the replacement character", () => {
    const chunks: LlmChunk[] = [];
    const feed = chunkFeed((chunk) => chunks.push(chunk));
    feed.text("a\ud83d");
    feed.reasoning("b\ud83d");
    feed.end();
    feed.end();
    expect(chunks).toEqual([
      { type: "text", index: 0, text: "a" },
      { type: "reasoning", index: 1, text: "b" },
      { type: "text", index: 0, text: "\ufffd" },
      { type: "part-end", index: 0 },
      { type: "reasoning", index: 1, text: "\ufffd" },
      { type: "part-end", index: 1 },
    ]);
  });

  it("numbers parts in the order in which they start, and gives pieces to their parts", () => {
    const chunks: LlmChunk[] = [];
    const feed = chunkFeed((chunk) => chunks.push(chunk));
    feed.reasoning("", "r");
    feed.text("Hi", "t");
    feed.toolCall("add", "a", "call_a");
    feed.toolCall("sub", "b");
    feed.toolArguments('{"of":', "a");
    feed.toolArguments("{}", "b");
    feed.endPart("b");
    feed.toolArguments("1}", "a");
    feed.toolArguments("late", "b");
    feed.endPart("b");
    feed.text("again", "b");
    feed.end();
    expect(chunks).toEqual([
      { type: "text", index: 0, text: "Hi" },
      { type: "tool-call", index: 1, id: "call_a", name: "add" },
      { type: "tool-call", index: 2, name: "sub" },
      { type: "tool-call-delta", index: 1, text: '{"of":' },
      { type: "tool-call-delta", index: 2, text: "{}" },
      { type: "part-end", index: 2 },
      { type: "tool-call-delta", index: 1, text: "1}" },
      { type: "text", index: 3, text: "again" },
      { type: "part-end", index: 0 },
      { type: "part-end", index: 1 },
      { type: "part-end", index: 3 },
    ]);
  });

  it("ends a call without a key when the next one starts", () => {
    const chunks: LlmChunk[] = [];
    const feed = chunkFeed((chunk) => chunks.push(chunk));
    feed.toolArguments("no call yet");
    feed.toolCall("add");
    feed.toolArguments('"\ud83d');
    feed.toolArguments('\ude00"');
    feed.toolCall("sub");
    feed.end();
    expect(chunks).toEqual([
      { type: "tool-call", index: 0, name: "add" },
      { type: "tool-call-delta", index: 0, text: '"' },
      { type: "tool-call-delta", index: 0, text: '\u{1f600}"' },
      { type: "part-end", index: 0 },
      { type: "tool-call", index: 1, name: "sub" },
      { type: "part-end", index: 1 },
    ]);
  });

  it("ignores exceptions of its listener, and works without one", () => {
    const feed = chunkFeed(() => {
      throw new Error("no");
    });
    feed.text("a");
    feed.toolCall("add");
    const unheard = chunkFeed(undefined);
    unheard.text("a");
    unheard.toolCall("add");
    unheard.toolArguments("{}");
    unheard.endPart(0);
    unheard.end();
    expect(() => feed.end()).not.toThrow();
  });
});
