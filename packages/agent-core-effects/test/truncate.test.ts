import { describe, expect, it } from "vitest";
import { truncated } from "../src/internal.ts";
import { truncatedToBytes } from "../src/truncate.ts";

const alphabet = ["a", "é", "世", "😀", "👩‍👩‍👧"];
const textOf = (seed: number, length: number): string =>
  Array.from({ length }, (_, index) => alphabet[(seed + index * index) % alphabet.length]).join("");

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

describe("a text that is cut", () => {
  it("is whole up to the limit, and says beyond it how long the whole is, with its digest", () => {
    expect(truncated("x".repeat(300), 300)).toBe("x".repeat(300));
    expect(truncated("x".repeat(301), 300)).toMatch(
      /^x+\n\[cut: 2\d\d of 301 characters shown, digest of the whole [0-9a-f]{16}\]$/,
    );
  });

  it("has the digest of the whole, not of what is shown", () => {
    const digestOf = (text: string): string | undefined => /whole (\w+)/.exec(truncated(text, 1_000))?.[1];
    const text = textOf(1, 2_000);
    expect(digestOf(text)).toBe(digestOf(textOf(1, 2_000)));
    expect(digestOf(text)).not.toBe(digestOf(`${text}.`));
    expect(digestOf(`${text}ab`)).not.toBe(digestOf(`${text}ba`));
  });

  it("ends in an ellipsis where the note would take most of the limit", () => {
    expect(truncated("12345", 5)).toBe("12345");
    expect(truncated("123456", 5)).toBe("1234…");
    expect(truncatedToBytes("123456", 5)).toBe("12…");
    expect([truncated("12", 1), truncated("1", 0), truncatedToBytes("123", 2)]).toEqual(["…", "", ""]);
  });

  const limits = [0, 1, 2, 3, 4, 5, 6, 7, 8, 50, 199, 200, 201, 202, 203, 204, 300];

  it("is never longer than the limit in all, in characters or in bytes", () => {
    for (let seed = 0; seed < 5; seed += 1) {
      for (const limit of limits) {
        const text = textOf(seed, 400);
        expect(truncated(text, limit).length).toBeLessThanOrEqual(limit);
        expect(bytesOf(truncatedToBytes(text, limit))).toBeLessThanOrEqual(limit);
      }
    }
  });

  it("never ends in half a character, whatever the limit", () => {
    for (let seed = 0; seed < 5; seed += 1) {
      for (const limit of limits) {
        const text = textOf(seed, 400);
        for (const cut of [truncated(text, limit), truncatedToBytes(text, limit)]) {
          expect(cut.isWellFormed()).toBe(true);
          expect(text.startsWith(cut.replace(/…$|\n\[cut.*$/, ""))).toBe(true);
        }
      }
    }
  });
});
