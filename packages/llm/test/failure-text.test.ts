import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { truncatedToBytes, redactSecrets } from "../src/failure-text.ts";

const bytes = (text: string): number => new TextEncoder().encode(text).length;

describe("a capped text", () => {
  it("is the beginning of the text, in so many bytes, cut between characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.nat({ max: 80 }), (text, limit) => {
        const capped = truncatedToBytes(text, limit);
        expect(text.startsWith(capped)).toBe(true);
        expect(bytes(capped)).toBeLessThanOrEqual(limit);
        expect(capped.isWellFormed()).toBe(true);
        expect(capped === text).toBe(bytes(text) <= limit);
      }),
    );
  });
});

describe("a redacted text", () => {
  it("shows no secret, as it is, in a URL or in JSON", () => {
    const secret = 'pass/word "1"';
    const text = `a ${secret} b ${encodeURIComponent(secret)} c ${JSON.stringify({ secret })}`;
    expect(redactSecrets(text, [secret])).toBe('a [secret] b [secret] c {"secret":"[secret]"}');
  });

  it("may stand for secrets that are parts of each other, or of what stands for them", () => {
    expect(redactSecrets("a secret, a secretary", ["secret", "secretary"])).toBe("a [secret], a [secret]");
  });

  it("leaves the rest alone, and takes no short word for a secret", () => {
    expect(redactSecrets("a key of mine", ["", "a", "key"])).toBe("a key of mine");
  });
});
