// What has a `then` is what these tests are about.
// oxlint-disable unicorn/no-thenable
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineTool, toolReply, type Tool } from "../../src/index.ts";
import { runAlone } from "./run-alone.ts";

const gives = (execute: () => unknown): Tool =>
  defineTool({ name: "give", description: "Gives.", input: z.object({}), execute });

const both = async (output: unknown): Promise<readonly unknown[]> => [
  await runAlone(
    gives(() => output),
    {},
  ),
  await runAlone(
    gives(async () => output),
    {},
  ),
];

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;

describe("what a tool returns, now or later", () => {
  it.each([
    ["text", "found", "found"],
    ["nothing", undefined, ""],
    ["an empty text", "", ""],
    ["null", null, "null"],
    ["a number", 4, "4"],
    ["an object", { a: [1, "b"] }, '{"a":[1,"b"]}'],
    ["an object that looks like a reply", { content: "x", isError: true }, '{"content":"x","isError":true}'],
    ["what says itself what JSON it is", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["a lone surrogate (J05)", "a\ud800b", "a\ufffdb"],
    ["a lone surrogate within (J05)", { a: "\udc00" }, String.raw`{"a":"\udc00"}`],
    ["a reply", toolReply({ content: "see" }), "see"],
  ])("%s is a success", async (_, output, content) => {
    for (const outcome of await both(output)) expect(outcome).toEqual({ isSuccess: true, content });
  });

  it('J02 {"then":"x"} is JSON, and nothing waits for it', async () => {
    expect(
      await runAlone(
        gives(() => ({ then: "x" })),
        {},
      ),
    ).toEqual({
      isSuccess: true,
      content: '{"then":"x"}',
    });
  });

  it("{then: fn} is no JSON, and nothing calls it (J02)", async () => {
    const thenable = { then: () => expect.unreachable() };
    expect(
      await runAlone(
        gives(() => thenable),
        {},
      ),
    ).toMatchObject({ isSuccess: false, code: "not-json" });
  });

  const throwingThen = Object.defineProperty({}, "then", {
    get() {
      throw new Error("trap");
    },
  });
  it.each([
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["a bigint", 1n],
    ["a bigint within", { a: [1n] }],
    ["a circle", cyclic],
    [
      "what throws when it is read",
      {
        get a() {
          throw new Error("trap");
        },
      },
    ],
  ])("%s is an error", async (_, output) => {
    for (const outcome of await both(output))
      expect(outcome).toEqual({
        isSuccess: false,
        code: "not-json",
        error: "The tool returned something that is not JSON.",
      });
  });

  it("what has a then that throws is an error", async () =>
    expect(
      await runAlone(
        gives(() => throwingThen),
        {},
      ),
    ).toMatchObject({ isSuccess: false }));

  it("a reply may have files and may be an error", async () => {
    const files = [{ mediaType: "image/png", url: "https://example.test/a.png" }];
    for (const outcome of await both(toolReply({ content: "a picture", files })))
      expect(outcome).toEqual({ isSuccess: true, content: "a picture", files });
    for (const outcome of await both(toolReply({ content: "no such file", isError: true })))
      expect(outcome).toEqual({ isSuccess: false, code: "tool-error", error: "no such file" });
  });

  it("a reply whose content is no text, or whose files are no JSON, is an error", async () => {
    const untyped = JSON.parse('{"content":7}');
    expect(
      await runAlone(
        gives(() => toolReply(untyped)),
        {},
      ),
    ).toMatchObject({
      error: "The content of a toolReply is text.",
    });
    const files = [{ mediaType: "image/png", url: "a", extra: 1n }];
    expect(
      await runAlone(
        gives(() => toolReply({ content: "x", files })),
        {},
      ),
    ).toMatchObject({
      isSuccess: false,
      code: "not-json",
    });
  });
});

const unreadable = Object.create(null, {
  toString: {
    value() {
      throw new Error("trap");
    },
  },
  toJSON: {
    value() {
      throw new Error("trap");
    },
  },
});

describe("what a tool throws, now or later", () => {
  it.each([
    ["an error", new Error("no such city"), "no such city"],
    ["an error of its own kind", new RangeError("too far"), "too far"],
    ["an error without a message", new TypeError(), "TypeError"],
    ["the reason of an abort", new DOMException("gone", "AbortError"), "gone"],
    ["a text", "just text", "just text"],
    ["an empty text", "", "It failed without a message."],
    ["undefined", undefined, "undefined"],
    ["a number", 7, "7"],
    ["an object", { code: 5 }, '{"code":5}'],
    ["what looks like an error of another realm", { message: "from afar" }, "from afar"],
    ["a symbol", Symbol("odd"), "Symbol(odd)"],
    ["what cannot be read", unreadable, "It threw something that cannot be read."],
    ["a lone surrogate (J05)", new Error("a\ud800"), "a\ufffd"],
  ])("is an error that the model reads: %s", async (_, thrown, error) => {
    const now = gives(() => {
      throw thrown;
    });
    const later = gives(() => Promise.reject(thrown));
    for (const tool of [now, later])
      expect(await runAlone(tool, {})).toEqual({ isSuccess: false, code: "tool-error", error });
  });
});

describe("a promise of another realm", () => {
  it("is waited for", async () => {
    const { runInNewContext } = await import("node:vm");
    const outcome = await runAlone(
      gives(() => runInNewContext("Promise.resolve({ city: 'Oslo' })")),
      {},
    );
    expect(outcome).toEqual({ isSuccess: true, content: '{"city":"Oslo"}' });
    const failed = await runAlone(
      gives(() => runInNewContext("Promise.reject(new Error('no'))")),
      {},
    );
    expect(failed).toMatchObject({ isSuccess: false, error: "no" });
  });
});
