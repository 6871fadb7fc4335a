import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactor, truncatedToBytes } from "../src/failure-text.ts";

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
    expect(redactor([secret])(text)).toBe('a [secret] b [secret] c {"secret":"[secret]"}');
  });

  it("contains no secret of a URL as a server decodes it", () => {
    expect(redactor(["a%2Fb%20c"])("a%2Fb%20c is a/b c")).toBe("[secret] is [secret]");
  });

  it("contains no secret in base64, wherever it begins and whatever follows", () => {
    const bytesAround = fc.uint8Array({ maxLength: 6 });
    fc.assert(
      fc.property(fc.string({ minLength: 12 }), bytesAround, bytesAround, (secret, before, after) => {
        const well = secret.toWellFormed();
        const all = Buffer.concat([before, Buffer.from(well), after]);
        for (const encoding of ["base64", "base64url"] as const) {
          const redacted = redactor([well])(all.toString(encoding));
          expect(redacted).toContain("[secret]");
          // What is left are the bytes around it, and at most one character of each end.
          expect(redacted.replace("[secret]", "").length).toBeLessThanOrEqual(
            Math.ceil(((before.length + after.length) * 8) / 6) + 6,
          );
        }
      }),
    );
    const basic = btoa("user:pass-word-1234");
    expect(redactor(["pass-word-1234"])(`Basic ${basic}`)).toMatch(/^Basic dXNlcj\S?\S?\[secret\]\S{0,3}$/);
  });

  it("contains no secret that is part of another secret or of the replacement", () => {
    expect(redactor(["secret", "secretary"])("a secret, a secretary")).toBe("a [secret], a [secret]");
  });

  it("keeps the rest, and keeps short secrets", () => {
    expect(redactor(["", "a", "key"])("a key of mine")).toBe("a key of mine");
  });
});
