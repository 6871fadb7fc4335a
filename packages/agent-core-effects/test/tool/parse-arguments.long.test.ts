// What has a `then` is what these tests are about.
// oxlint-disable unicorn/no-thenable
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { defineTool } from "../../src/index.ts";
import { malformed, nested } from "./malformed.ts";
import { runAlone } from "./run-alone.ts";

const execute = vi.fn();
const tool = defineTool({ name: "any", description: "Takes anything.", input: z.looseObject({}), execute });

const bytes = (text: string): number => new TextEncoder().encode(text).length;

function syntaxError(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : undefined;
  }
}

describe("malformed arguments (E08)", () => {
  it("come in two hundred kinds", () => expect(malformed.length).toBeGreaterThanOrEqual(200));

  it.each(malformed)("do not run, and the model reads why: $what", async ({ text }) => {
    const outcome = await runAlone(tool, text);
    expect(execute).not.toHaveBeenCalled();
    expect(outcome).toMatchObject({ isSuccess: false, code: "invalid-arguments" });
    const error = outcome.isSuccess ? "" : outcome.error;
    expect(bytes(error)).toBeLessThanOrEqual(2_048);
    expect(error.isWellFormed()).toBe(true);
    expect(error).toContain("You sent: ");
    const offset = /position \d+/.exec(syntaxError(text) ?? "")?.[0];
    if (offset !== undefined) expect(error).toContain(offset);
    expect(Object.prototype).not.toHaveProperty("polluted");
  });

  const million = Array.from({ length: 1_000_000 }, (_, index) => index);
  it.each([
    ["an object of a million keys", JSON.stringify(Object.fromEntries(million.map((n) => [`k${n}`, n])))],
    ["an array of a million items", JSON.stringify({ list: million })],
    ["a million small objects", `{"list":[${million.map(() => "{}").join()}]}`],
  ])("%s is refused before it is parsed", async (_, text) => {
    const parse = vi.spyOn(JSON, "parse");
    const outcome = await runAlone(tool, text);
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
    expect(outcome).toMatchObject({
      code: "invalid-arguments",
      error: expect.stringContaining("The arguments have more than 100000 keys and items. You sent: {"),
    });
  });

  it("say where a key occurs for the second time", async () =>
    expect(await runAlone(tool, '{"city":"Oslo","days":1,"city":"Rome"}')).toMatchObject({
      error: 'The key "city" stands twice, at offset 24. You sent: {"city":"Oslo","days":1,"city":"Rome"}',
    }));
});

describe("arguments that can be used", () => {
  it.each([
    ["nothing at all", "", {}],
    ["white space", " \n ", {}],
    ["white space around", ' {"a":1}\n', { a: 1 }],
    [
      "the same key in different objects",
      '{"a":{"b":1},"c":{"b":1},"b":[{"b":1},{"b":2}]}',
      {
        a: { b: 1 },
        c: { b: 1 },
        b: [{ b: 1 }, { b: 2 }],
      },
    ],
    [
      "a text that looks like keys",
      String.raw`{"a":"\"a\":1,\\","b":"{\"a\":1"}`,
      { a: '"a":1,\\', b: '{"a":1' },
    ],
    [
      "names that every object has",
      '{"constructor":1,"toString":2,"hasOwnProperty":3,"then":4}',
      {
        constructor: 1,
        toString: 2,
        hasOwnProperty: 3,
        then: 4,
      },
    ],
    ["an empty key", '{"":1}', { "": 1 }],
  ])("are %s", async (_, text, input) => {
    execute.mockClear();
    expect(await runAlone(tool, text)).toMatchObject({ isSuccess: true });
    expect(execute.mock.calls[0]?.[0]).toEqual(input);
    execute.mockReset();
  });

  it("may nest 100 deep (J03)", async () => {
    expect(await runAlone(tool, nested(100, "[", "]"))).toMatchObject({ isSuccess: true });
    expect(await runAlone(tool, nested(100, '{"a":', "}"))).toMatchObject({ isSuccess: true });
    execute.mockReset();
  });

  it("may be ten million characters long, or have 100,000 keys, quotes or backslashes", async () => {
    const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key ${index}`, index]));
    const texts = ["x".repeat(10_000_000), '"'.repeat(100_000), "\\".repeat(100_000)];
    for (const input of [keys, ...texts.map((text) => ({ text }))])
      expect(await runAlone(tool, input)).toMatchObject({ isSuccess: true });
    execute.mockReset();
  });
});
