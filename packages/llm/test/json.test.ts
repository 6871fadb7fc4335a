import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defined, withWellFormedText } from "@moora/llm/adapter";
import { hasMoreItemsThan } from "@moora/llm/internal";
import { isTooDeep } from "../src/json.ts";

describe("a well-formed value", () => {
  it("has no lone surrogates in values and keys", () => {
    expect(withWellFormedText({ "a\ud800": ["\udc00", { b: "\ud83d\ude00" }, null, 1, true] })).toEqual({
      "a\ufffd": ["\ufffd", { b: "\u{1F600}" }, null, 1, true],
    });
  });

  it("is equal to a value without lone surrogates", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.stringify(withWellFormedText(JSON.parse(JSON.stringify(value))))).toBe(
          JSON.stringify(value),
        );
      }),
    );
  });

  it("keeps keys that have a meaning in prototypes", () => {
    const hostile = JSON.parse('{"__proto__":{"x":1},"constructor":2}');
    expect(JSON.stringify(withWellFormedText(hostile))).toBe('{"__proto__":{"x":1},"constructor":2}');
  });
});

describe("defined fields", () => {
  it("are those that are not undefined", () => {
    expect(defined({ a: undefined, b: null, c: 0, d: "", e: false })).toEqual({
      b: null,
      c: 0,
      d: "",
      e: false,
    });
  });
});

const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

describe("a value that is too deep", () => {
  it("has more than 512 levels", () => {
    expect(isTooDeep(JSON.parse(nested(512)))).toBe(false);
    expect(isTooDeep(JSON.parse(nested(513)))).toBe(true);
    expect(isTooDeep(JSON.parse(nested(100_000)))).toBe(true);
    expect(isTooDeep(Array.from({ length: 10_000 }, () => ({ a: 1 })))).toBe(false);
  });
});

describe("the keys and items of a JSON text", () => {
  const itemsIn = (value: unknown): number =>
    typeof value !== "object" || value === null
      ? 0
      : Object.values(value).reduce<number>((sum, one) => sum + 1 + itemsIn(one), 0);

  it("are counted without parsing it, in any layout", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, "\t"), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const items = itemsIn(value);
        expect(hasMoreItemsThan(text, items)).toBe(false);
        if (items > 0) expect(hasMoreItemsThan(text, items - 1)).toBe(true);
      }),
    );
  });

  it("do not include the characters of a string", () =>
    expect(hasMoreItemsThan(JSON.stringify({ a: '{"[,,,]\\' }), 1)).toBe(false));
});
