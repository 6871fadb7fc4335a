import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/durable/canonical-json.ts";

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
