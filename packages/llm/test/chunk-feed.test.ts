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
      { type: "text", text: "a" },
      { type: "reasoning", text: "b" },
      { type: "text", text: "\ufffd" },
      { type: "reasoning", text: "\ufffd" },
    ]);
  });

  it("ignores exceptions of its listener, and works without one", () => {
    const feed = chunkFeed(() => {
      throw new Error("no");
    });
    feed.text("a");
    feed.toolCall("add");
    chunkFeed(undefined).text("a");
    expect(() => feed.end()).not.toThrow();
  });
});
