// What has a `then` is what these tests are about.
// oxlint-disable unicorn/no-thenable
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { BuildError, defineTool, toolReply, type Tool, type ToolReply } from "../../src/index.ts";
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

  it("an error has the code of its reply, or tool-error", async () => {
    for (const outcome of await both(toolReply({ content: "gone", isError: true, code: "no-server" })))
      expect(outcome).toEqual({ isSuccess: false, error: "gone", code: "no-server" });
    for (const outcome of await both(toolReply({ content: "gone", isError: true })))
      expect(outcome).toEqual({ isSuccess: false, error: "gone", code: "tool-error" });
    expect(() => toolReply({ content: "gone", isError: true, code: "" })).toThrow(
      'toolReply: code must be a non-empty string, got "".',
    );
  });

  it.each<[object, string]>([
    [{ isError: "no" }, 'toolReply: isError must be true or false, got "no".'],
    [
      { files: "chart.png" },
      'toolReply: files must be a list of files, each with mediaType and url, got "chart.png".',
    ],
  ])("a reply with %j is refused", (fields, message) => {
    const reply = { content: "gone", ...fields };
    // A program in JavaScript passes any fields.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    expect(() => toolReply(reply as ToolReply)).toThrow(new BuildError(message));
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

  it("{then: fn} is not JSON, and nothing calls it (J02)", async () => {
    const thenable = { then: () => expect.unreachable() };
    expect(
      await runAlone(
        gives(() => thenable),
        {},
      ),
    ).toMatchObject({
      isSuccess: false,
      code: "not-json",
      error: expect.stringContaining("returned an object with a then method; await it."),
    });
  });

  const throwingThen = Object.defineProperty({}, "then", {
    get() {
      throw new Error("trap");
    },
  });
  class Account {
    readonly id = 7;
  }
  const invalid = new Date(Number.NaN);
  const collect = "collect what it yields and return an array or text";
  const foreign: readonly (readonly [output: unknown, problem: string])[] = [
    [() => 1, "a function; return data"],
    [Symbol("s"), "a symbol; return a string"],
    [1n, "a bigint; return String(value)"],
    [Number.NaN, "NaN; return a finite number or null"],
    [[1, undefined], "undefined at $[1]; return null or leave the item out"],
    [{ rows: Array(2) }, "undefined at $.rows[0]; return null or leave the item out"],
    [new Map([["a", 1]]), "a Map; return Object.fromEntries(map)"],
    [new Set([1]), "a Set; return [...set]"],
    [new Response("{}"), "a Response; return await response.json() or text"],
    [new Headers(), "a Headers; return Object.fromEntries(headers)"],
    [new URLSearchParams("a=1"), "a URLSearchParams; return String(parameters)"],
    [new Error("no"), "an Error; throw it or return its message"],
    [Object.assign(new Error("no"), { toJSON: () => ({}) }), "an Error; throw it or return its message"],
    [new DOMException("no"), "a DOMException; throw it or return its message"],
    [
      (function* () {
        yield 1;
      })(),
      `a generator; ${collect}`,
    ],
    [
      (async function* () {
        yield 1;
      })(),
      `an async generator; ${collect}`,
    ],
    [[1].values(), `an iterator; ${collect}`],
    [new ReadableStream(), "a ReadableStream; read it and return text"],
    [new Blob(["x"]), "a Blob; read it and return text"],
    [Buffer.from("x"), "a Buffer; return text, an array of numbers or a file with toolReply"],
    [new Uint8Array(2), "a Uint8Array; return text, an array of numbers or a file with toolReply"],
    [new ArrayBuffer(2), "an ArrayBuffer; return text, an array of numbers or a file with toolReply"],
    [invalid, "an invalid Date; return a valid date or null"],
    [/x/, "a RegExp; return a plain object or give it a toJSON method"],
    [new Account(), "an instance of Account; return a plain object or give it a toJSON method"],
    [cyclic, "an object that contains itself at $.self; return it without the circular reference"],
    [
      { rows: [{ "of us": Number.POSITIVE_INFINITY }] },
      'Infinity at $.rows[0]["of us"]; return a finite number or null',
    ],
    [{ body: new Response("{}") }, "a Response at $.body; return await response.json() or text"],
    [[Promise.resolve(1)], "a Promise at $[0]; await it, for a list with Promise.all"],
    [{ a: [1n] }, "a bigint at $.a[0]; return String(value)"],
    [{ run: () => 1 }, "a function at $.run; return data"],
    [{ toJSON: () => new Map() }, "a Map; return Object.fromEntries(map)"],
    [
      {
        get a() {
          throw new Error("trap");
        },
      },
      "a value that throws when it is read (trap) at $.a; return plain data",
    ],
  ];
  it.each(foreign.map(([, problem], index) => ({ index, problem })))(
    "what JSON does not keep is an error: $problem",
    async ({ index, problem }) => {
      const output = foreign[index]?.[0];
      const error = `The tool give returned ${problem}. The call ran and may have had its effect.`;
      const now = gives(() => output);
      const later = gives(async () => output);
      for (const tool of [now, later])
        expect(await runAlone(tool, {})).toEqual({ isSuccess: false, code: "not-json", error });
    },
  );

  it("more keys and items than a limit, or more levels, are an error without a walk through them all", async () => {
    const wide = { rows: Array.from({ length: 1_000 }, () => Array.from({ length: 1_000 }, () => 0)) };
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const outcomes = [
      await runAlone(
        gives(() => wide),
        {},
      ),
      await runAlone(
        gives(() => deep),
        {},
      ),
    ];
    for (const outcome of outcomes) expect(outcome).toMatchObject({ isSuccess: false, code: "too-large" });
    expect(outcomes[0]).toMatchObject({
      error: expect.stringContaining("more than 100000 keys and items at $.rows["),
    });
    expect(outcomes[1]).toMatchObject({ error: expect.stringContaining("more than 512 levels") });
  });

  it("JSON reads as JSON.stringify writes it", async () => {
    class Money {
      readonly #cents = 5;
      toJSON(): object {
        return { cents: this.#cents };
      }
    }
    const shared = { a: 1 };
    const values: unknown[] = [
      { a: undefined, b: [null], d: -0, e: { toJSON: () => undefined } },
      { price: new Money(), at: new Date(0), url: new URL("https://example.test/a") },
      [shared, shared],
      Object.create(null, { a: { value: 1, enumerable: true } }),
      JSON.parse('{"__proto__":{"a":1},"a b":"\\ud800"}'),
      false,
      { toJSON: (key: string) => `key ${key}` },
    ];
    for (const value of values) {
      expect(
        await runAlone(
          gives(() => value),
          {},
        ),
      ).toEqual({ isSuccess: true, content: JSON.stringify(value) });
    }
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

  it("a reply whose content is not text, or whose files are not well-formed, is an error", async () => {
    const untyped = JSON.parse('{"content":7}');
    expect(
      await runAlone(
        gives(() => toolReply(untyped)),
        {},
      ),
    ).toMatchObject({
      error: "toolReply: content must be a string, got 7.",
    });
    const files = [{ mediaType: "image/png", url: "a\ud800" }];
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
    ["a text", "plain text", "plain text"],
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
    const failed = { isSuccess: false, code: "tool-error", error, retryable: true };
    for (const tool of [now, later]) expect(await runAlone(tool, {})).toEqual(failed);
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
