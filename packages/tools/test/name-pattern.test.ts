import { describe, expect, it } from "vitest";
import { matchesNamePattern } from "../src/files/name-pattern.ts";

describe("a pattern of names", () => {
  it.each([
    ["*.ts", "src/a.ts", true],
    ["*.ts", "src/a.tsx", false],
    ["*", "anything", true],
    ["a?c", "abc", true],
    ["a?c", "a\u{1f600}c", true],
    ["a?c", "ac", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/deep/a.ts", false],
    ["src/**/*.ts", "src/a.ts", true],
    ["src/**/*.ts", "src/deep/er/a.ts", true],
    ["src/**", "src/deep/a.ts", true],
    ["**/b/*.ts", "a/b/c.ts", true],
    ["**/b/*.ts", "ab/c.ts", false],
    ["README*", "docs/README.md", true],
    ["[ab].ts", "a.ts", false],
    ["a.ts", "axts", false],
    ["", "a", false],
  ])("%s and %s: %s", (pattern, path, fits) => {
    expect(matchesNamePattern(pattern, path)).toBe(fits);
  });

  it("does not backtrack", () => {
    expect(matchesNamePattern(`${"*a".repeat(90)}b`, "a".repeat(4_000))).toBe(false);
  });
});
