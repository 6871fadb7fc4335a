import { describe, expect, it } from "vitest";
import { mentionsOf } from "../src/mentions.ts";
import { textToExpressions } from "../src/text-to-expressions.ts";
import { wordsOf } from "../src/words.ts";

const seen = (text: string): string[] =>
  mentionsOf(text)
    .filter(({ kind }) => kind !== "name")
    .map(({ kind, text: piece }) => `${kind} ${piece}`);

describe("what a text mentions", () => {
  it.each([
    [
      "read packages/a/b.ts and README.md, or ./x/ and .gitignore",
      "path packages/a/b.ts",
      "path README.md",
      "path ./x/",
      "path .gitignore",
    ],
    ["what does the README say", "path README"],
    ["go to https://example.org/a?b=(1). Then stop", "url https://example.org/a?b=(1"],
    ["see https://example.org/a.", "url https://example.org/a"],
    ["write to ada.l@example.org, please", "email ada.l@example.org"],
    ["find 'foo bar' or \"baz\" or `qux`", "quoted foo bar", "quoted baz", "quoted qux"],
    ["it's Ada's and the dogs' day"],
    ["all *.ts and src/**/*.js", "glob *.ts", "glob src/**/*.js"],
    ["on 2026-11-21 or 3 May 2025 or May 4, 2025", "date 2026-11-21", "date 3 May 2025", "date May 4, 2025"],
    ["time in Europe/Oslo or UTC", "time-zone Europe/Oslo", "time-zone UTC"],
    ['with {"seats": 3, "x": [1, {"y": 2}]} please', 'json {"seats": 3, "x": [1, {"y": 2}]}'],
    ["{not json} [", ""],
    ["5 apples, 1,250.50 pears and -3 plums", "number 5", "number 1,250.50", "number -3"],
    ["v1.2.3 and a1 and A-17 and 3rd and/or he/she", "code a1", "code A-17"],
    ["3.", "number 3"],
  ])("%s", (text, ...pieces) => {
    expect(seen(text)).toEqual(pieces.filter((piece) => piece !== ""));
  });

  it("includes the words around a mention", () => {
    expect(mentionsOf("show the last 3 orders").find(({ kind }) => kind === "number")).toMatchObject({
      before: "last",
      after: "orders",
    });
  });

  it.each([
    "{".repeat(4_000),
    '"'.repeat(4_000),
    "a/".repeat(2_000),
    "a.".repeat(2_000),
    "9,".repeat(2_000),
    "A ".repeat(2_000),
    "x@".repeat(2_000),
    "((".repeat(2_000),
    "https://".repeat(500),
  ])("finds no more mentions than characters in a repetitive text", (text) => {
    expect(mentionsOf(text).length).toBeLessThanOrEqual(text.length);
  });
});

describe("arithmetic in a text", () => {
  it.each([
    ["What is (2 + 3) * 4?", "(2 + 3) * 4"],
    ["15% of 80", "15% * 80"],
    ["12.5 percent of 640", "12.5% * 640"],
    ["How much is 12 times 7 divided by 2?", "12 * 7 / 2"],
    ["square root of 16 plus 1,000", "sqrt(16) + 1000"],
    ["2^10 - 24, then max(1, 2) + 3", "2^10 - 24", "max(1, 2) + 3"],
    ["3 \u00d7 4 \u2212 1", "3 \u00d7 4 \u2212 1"],
    ["7 squared", "7 ^ 2"],
    ["(see 5 + 5)", "5 + 5"],
    ["5 apples - a list", ""],
    ["what is 42?", ""],
    ["version 1.2.3 - 4", ""],
    ["sin", ""],
  ])("%s", (text, ...expressions) => {
    expect(textToExpressions(text)).toEqual(expressions.filter((expression) => expression !== ""));
  });
});

describe("stems of words", () => {
  it.each([
    ["Lists the files", "listing files"],
    ["searching directories", "search directory"],
    ["findFiles", "find_files"],
    ["calculates", "compute"],
    ["translated", "translates"],
    ["boxes", "box"],
    ["queries", "query"],
  ])("%s and %s are the same", (one, other) => {
    expect(wordsOf(one)).toEqual(wordsOf(other));
    expect(wordsOf(one)).not.toEqual([]);
  });

  it("leave out stop words", () => {
    expect(wordsOf("Could you please tell me what is the 42 of it?")).toEqual([]);
  });
});
