import { describe, expect, it } from "vitest";
import { shortened } from "../src/index.ts";
import { shortenedToBytes } from "../src/shortened.ts";

const alphabet = ["a", "é", "世", "😀", "👩‍👩‍👧"];
const textOf = (seed: number): string =>
  Array.from({ length: 12 }, (_, index) => alphabet[(seed + index * index) % alphabet.length]).join("");

describe("a text that is cut", () => {
  it("is whole up to the limit, and says how much is shown beyond it", () => {
    expect(shortened("12345", 5)).toBe("12345");
    expect(shortened("123456", 5)).toBe("12345\n[cut: 5 of 6 characters shown]");
    expect(shortened("123456", 0)).toBe("\n[cut: 0 of 6 characters shown]");
  });

  it("never ends in half a character, whatever the limit", () => {
    for (let seed = 0; seed < 5; seed += 1)
      for (let most = 0; most < 40; most += 1) {
        const text = textOf(seed);
        const [byCharacters, byBytes] = [shortened(text, most), shortenedToBytes(text, most)];
        expect(byCharacters.isWellFormed() && byBytes.isWellFormed()).toBe(true);
        for (const cut of [byCharacters, byBytes])
          expect(cut === text || text.startsWith(cut.slice(0, cut.lastIndexOf("\n[cut")))).toBe(true);
        const kept = byBytes.slice(0, byBytes === text ? text.length : byBytes.lastIndexOf("\n[cut"));
        expect(new TextEncoder().encode(kept).length).toBeLessThanOrEqual(most);
      }
  });
});
