import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { truncatedToBytes, redactSecrets } from "../src/failure-text.ts";

const bytes = (text: string): number => new TextEncoder().encode(text).length;

describe("a truncated text", () => {
  it("is the beginning of the text within the limit, cut between characters", () => {
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
  it("contains no secret in plain, URL-encoded or JSON form", () => {
    const secret = 'pass/word "1"';
    const text = `a ${secret} b ${encodeURIComponent(secret)} c ${JSON.stringify({ secret })}`;
    expect(redactSecrets(text, [secret])).toBe('a [secret] b [secret] c {"secret":"[secret]"}');
  });

  it("contains no secret that is part of another secret or of the replacement", () => {
    expect(redactSecrets("a secret, a secretary", ["secret", "secretary"])).toBe("a [secret], a [secret]");
  });

  it("keeps the rest, and keeps short secrets", () => {
    expect(redactSecrets("a key of mine", ["", "a", "key"])).toBe("a key of mine");
  });
});
