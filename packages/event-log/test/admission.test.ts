import { describe, expect, it } from "vitest";
import { chained, chainStart, checkedAppend, checkedHeader, maxTextLength } from "../src/index.ts";

const start = chainStart("{}");

describe("the limits of an append", () => {
  const half = "x".repeat(maxTextLength / 2);
  const first = { seq: 1, body: half, changed: "", digest: chained(start.digest, half, "") };
  const second = { seq: 2, body: half, changed: "", digest: chained(first.digest, half, "") };

  it("take bodies that together are as long as one value may be, and no more", () => {
    expect(checkedAppend(start, 0, [first, second]).seq).toBe(2);
    const third = { seq: 3, body: "x", changed: "", digest: chained(second.digest, "x", "") };
    expect(() => checkedAppend(start, 0, [first, second, third])).toThrow(
      expect.objectContaining({ code: "InvalidRecord", seq: 3 }),
    );
  });

  it("are those of a header, too", () => {
    expect(checkedHeader(half)).toBe(half);
    expect(() => checkedHeader(`${half}${half}x`)).toThrow(
      expect.objectContaining({ code: "InvalidRecord" }),
    );
  });
});
