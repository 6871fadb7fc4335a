import { describe, expect, it } from "vitest";
import { recordDigest, chainStart, maxRecordLength } from "../src/index.ts";
import { validateAppend, validHeader } from "../src/store.ts";

describe("the limits of an append", () => {
  const start = chainStart("{}");
  const half = "x".repeat(maxRecordLength / 2);
  const first = { seq: 1, body: half, changesDigest: "", digest: recordDigest(start.digest, half) };
  const second = { seq: 2, body: half, changesDigest: "", digest: recordDigest(first.digest, half) };

  it("apply to all bodies together, and the error contains both lengths", () => {
    expect(validateAppend(start, 0, [first, second])).toBe(second);
    const tooLong = { ...second, body: `${half}x` };
    const refused = expect.objectContaining({ code: "InvalidRecord", seq: 2 });
    expect(() => validateAppend(start, 0, [first, tooLong])).toThrow(refused);
    expect(() => validateAppend(start, 0, [first, tooLong])).toThrow(
      `${maxRecordLength + 1} characters; the limit is ${maxRecordLength}`,
    );
  });

  it("apply to a header too", () => {
    const longest = "x".repeat(maxRecordLength);
    expect(validHeader(longest)).toBe(longest);
    const refused = expect.objectContaining({ code: "InvalidRecord" });
    expect(() => validHeader(`${longest}x`)).toThrow(refused);
  });
});
