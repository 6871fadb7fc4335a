import { describe, expect, it } from "vitest";
import { canonicalJson, isSameJson } from "../../src/durable/canonical-json.ts";

const fewKeys = ["z", "a", "Z", "ä", "\u{1F600}", "ﬀ", "10", "9", "_", "é", "e"];
const manyKeys = [
  ...fewKeys,
  ...Array.from({ length: 30 }, (_, index) => `${index % 2 === 0 ? "k" : "K"}${index}`),
];

describe("canonical JSON", () => {
  it.each([
    ["few", fewKeys],
    ["many", manyKeys],
  ])("has the keys of an object by code unit, which no locale changes: %s keys", (_, keys) => {
    const made = Object.fromEntries(keys.map((key) => [key, 1]));
    const sorted = keys.toSorted();
    expect(canonicalJson(made)).toBe(`{${sorted.map((key) => `${JSON.stringify(key)}:1`).join()}}`);
  });

  it("is the same however an object was put together, at any depth", () => {
    const one = { b: [{ y: 1, x: null }], a: { d: "\n", c: true } };
    const other = { a: { c: true, d: "\n" }, b: [{ x: null, y: 1 }] };
    expect(canonicalJson(one)).toBe(canonicalJson(other));
    expect(canonicalJson(one)).toBe('{"a":{"c":true,"d":"\\n"},"b":[{"x":null,"y":1}]}');
  });

  it("leaves out fields that are undefined, as JSON does", () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });
});

describe("what is the same", () => {
  const same = { b: [{ y: 1, x: null }], a: { d: "c" } };

  it.each<[string, unknown, boolean]>([
    ["put together in another order", { a: { d: "c" }, b: [{ x: null, y: 1 }] }, true],
    ["a field that is undefined", { ...same, c: undefined }, true],
    ["a field more", { ...same, c: null }, false],
    ["a field less", { a: { d: "c" } }, false],
    ["another value, deep down", { ...same, b: [{ y: 2, x: null }] }, false],
    ["an item more", { ...same, b: [...same.b, null] }, false],
    ["an object for a list", { ...same, b: { 0: same.b[0] } }, false],
    ["a field that every object has", { ...same, toString: "" }, false],
    [
      "a field with the name of what every object inherits",
      JSON.parse('{"__proto__":{},"a":{"d":"c"},"b":[{"x":null,"y":1}]}'),
      false,
    ],
    ["no object", "{}", false],
    ["nothing", null, false],
  ])("has the same canonical text: %s", (_, other, expected) => {
    expect([isSameJson(same, other), isSameJson(other, same)]).toEqual([expected, expected]);
    expect(canonicalJson(same) === canonicalJson(other)).toBe(expected);
  });
});
