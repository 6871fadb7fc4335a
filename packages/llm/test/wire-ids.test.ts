import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commonIdFormat, wireIds, wireNames, type IdFormat } from "@moora/llm/adapter";

const nineLetters: IdFormat = { pattern: /^[A-Za-z0-9]{9}$/, length: 9 };
const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.stringMatching(/^x0[A-Za-z0-9]{0,24}$/),
  fc.nat().map(String),
  fc.constantFrom("\ud800", "\ud801", "tool 1/ä", "a".repeat(500), "a".repeat(501), "__proto__"),
);

describe("ids on the wire", () => {
  it("are unchanged if they are valid", () => {
    const ids = ["1", "2", "i_1_2_0", "call_Ab-9", "toolu_01", "x".repeat(64), "__proto__"];
    expect(ids.map(wireIds())).toEqual(ids);
  });

  it.each([
    ["common", commonIdFormat],
    ["nine letters", nineLetters],
  ])("match the format and never collide (%s)", (_, format) => {
    fc.assert(
      fc.property(fc.uniqueArray(anyText, { maxLength: 60 }), (ids) => {
        const wire = ids.map(wireIds(format));
        expect(wire.filter((id) => !format.pattern.test(id))).toEqual([]);
        expect(new Set(wire).size).toBe(ids.length);
      }),
    );
  });

  it("are equal for equal ids, and do not depend on other ids", () => {
    fc.assert(
      fc.property(fc.array(anyText), anyText, (others, id) => {
        const wireId = wireIds(nineLetters);
        const before = wireId(id);
        for (const other of others) wireId(other);
        expect(wireId(id)).toBe(before);
        expect(wireIds(nineLetters)(id)).toBe(before);
      }),
    );
  });

  it("are distinct even if the hashes collide", () => {
    const tiny: IdFormat = { pattern: /^$/, length: 3 };
    const ids = Array.from({ length: 50 }, (_, index) => `id ${index}`);
    expect(new Set(ids.map(wireIds(tiny))).size).toBe(50);
  });
});

describe("names on the wire", () => {
  it("keep their valid characters", () => {
    const wireName = wireNames();
    expect(wireName("weather")).toBe("weather");
    expect(wireName("files/read.text ä")).toMatch(/^x0[A-Za-z0-9]{10}_files_read_text_$/);
  });

  it("match the format and never collide", () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyText, { maxLength: 60 }), (names) => {
        const wire = names.map(wireNames());
        expect(wire.filter((name) => !commonIdFormat.pattern.test(name))).toEqual([]);
        expect(new Set(wire).size).toBe(names.length);
      }),
    );
  });
});
