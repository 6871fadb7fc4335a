import { describe, expect, it } from "vitest";
import { type Exception, findingsIn } from "../scripts/language.ts";

const wordsIn = (text: string, exceptions: readonly Exception[] = []): readonly string[] =>
  findingsIn("packages/some/src/some.ts", text, exceptions).map(({ line, word }) => `${line} ${word}`);

describe("the check of the language", () => {
  it("finds a word in a comment, a string and a page", () => {
    expect(wordsIn("/** Tells the listener. */\nconst text = `whoever`;\nNobody reads this.")).toEqual([
      "1 Tells",
      "2 whoever",
      "3 Nobody",
    ]);
  });

  it("finds a word that is a part of an identifier", () => {
    expect(wordsIn("tellAll(retold_inputs, #told, HTTPColour)")).toEqual([
      "1 tell",
      "1 retold",
      "1 told",
      "1 Colour",
    ]);
  });

  it("finds a phrase that is a part of an identifier", () => {
    expect(wordsIn("goOn(whatStandsFor, cameTo)")).toEqual(["1 go on", "1 stands for", "1 came to"]);
  });

  it("finds no word in a longer one", () => {
    expect(wordsIn("intellect, bearer, roommate, adjust, Cancelled, jointly")).toEqual([]);
  });

  it("finds a phrase that a comment breaks between two lines", () => {
    expect(wordsIn("one\n * The run goes\n * on from here.\n// This is no\n// message.")).toEqual([
      "2 goes on",
      "4 is no message",
    ]);
  });

  it("lets stand what says that there is not a thing", () => {
    expect(wordsIn("There is no log. It is no longer open, and is no more than a file.")).toEqual([]);
  });

  it("finds contractions", () => {
    expect(wordsIn("It isn't what's wanted. They're here, I'll wait.")).toEqual([
      "1 isn't",
      "1 what's",
      "1 They're",
      "1 I'll",
    ]);
  });

  it("finds a timeout that is written as two words", () => {
    expect(wordsIn("Fails on time-out. Time-outs are options; a timed-out call is not repeated.")).toEqual([
      "1 time-out",
      "1 Time-outs",
    ]);
  });

  it("finds a word in the name of a file", () => {
    expect(findingsIn("test/told.ts", "", [])).toEqual([
      { file: "test/told.ts", line: 0, word: "told", better: expect.any(String) },
    ]);
  });

  it("skips what an exception covers, only in its file and only in its text, and records its use", () => {
    const exceptions: readonly Exception[] = [
      { path: "packages/some/", text: '"tell me"', reason: "what a user types" },
      { path: "packages/other/", text: "", reason: "another package" },
    ];
    const used = new Set<Exception>();
    const text = 'const words = ["tell me"];\nconst told = 1;';
    expect(
      findingsIn("packages/some/src/some.ts", text, exceptions, used).map(({ line, word }) => [line, word]),
    ).toEqual([[2, "told"]]);
    expect([...used]).toEqual(exceptions.slice(0, 1));
  });
});
