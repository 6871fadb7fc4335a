import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LogError } from "../src/index.ts";
import { jsonlLog } from "../src/jsonl.ts";
import { sqliteLog } from "../src/sqlite.ts";

/** A value as hosts without types give it. */
const untyped = (value: unknown) => JSON.parse(JSON.stringify(value ?? null)) ?? undefined;

describe("a log refuses what is not a path, with InvalidOption", () => {
  it.each<[string, () => unknown, string]>([
    ["sqliteLog()", () => sqliteLog(untyped(undefined)), 'the path of a file, or ":memory:", got undefined.'],
    ["sqliteLog of a number", () => sqliteLog(untyped(7)), "sqliteLog needs the path of a file"],
    ["sqliteLog of empty text", () => sqliteLog(""), 'got "".'],
    ["sqliteLog of an object", () => sqliteLog(untyped({ file: "x" })), "got an object."],
    [
      "sqliteLog with text as options",
      () => sqliteLog(":memory:", untyped("full")),
      'of options, got "full".',
    ],
    [
      "jsonlLog()",
      () => jsonlLog(untyped(undefined)),
      "jsonlLog needs the path of a directory, got undefined.",
    ],
    ["jsonlLog of a number", () => jsonlLog(untyped(7)), "got 7."],
    ["jsonlLog of empty text", () => jsonlLog(""), 'got "".'],
  ])("%s", (_, open, message) => {
    expect(open).toThrow(LogError);
    expect(open).toThrow(
      expect.objectContaining({ code: "InvalidOption", message: expect.stringContaining(message) }),
    );
  });
});

describe("a log refuses an unusable option, with InvalidOption", () => {
  it.each<[string, () => unknown, string]>([
    [
      "an unknown durability",
      () => sqliteLog("never.db", untyped({ durability: "relaxd", busyTimeoutMs: "x" })),
      'durability of sqliteLog must be "full" or "relaxed", got "relaxd".',
    ],
    [
      "a time limit as text",
      () => sqliteLog("never.db", untyped({ busyTimeoutMs: "x" })),
      'busyTimeoutMs of sqliteLog must be a number of milliseconds from 0 to 2147483647, got "x".',
    ],
    [
      "a name that is near none",
      () => jsonlLog("never", untyped({ compression: true })),
      'Unknown option "compression" of jsonlLog. Known options: durability, onNotice, fs.',
    ],
    [
      "a listener that is not a function",
      () => jsonlLog("never", untyped({ onNotice: 1 })),
      "must be a function, got 1.",
    ],
    ["a negative time limit", () => sqliteLog("never.db", { busyTimeoutMs: -1 }), "got -1."],
    ["a list of options", () => sqliteLog("never.db", untyped([])), "sqliteLog needs an object of options"],
  ])("%s", (_, open, message) => {
    expect(open).toThrow(LogError);
    expect(open).toThrow(
      expect.objectContaining({ code: "InvalidOption", message: expect.stringContaining(message) }),
    );
    expect(existsSync("never.db")).toBe(false);
  });
});

it("an error of a log is JSON with its message, its record and the message of its cause", () => {
  const cause = new Error("EIO");
  expect(
    JSON.parse(JSON.stringify(new LogError("LogWrite", "The log could not append.", { cause }))),
  ).toEqual({
    name: "LogError",
    code: "LogWrite",
    message: "The log could not append.",
    cause: "EIO",
  });
  expect(JSON.parse(JSON.stringify(new LogError("LogCorrupt", "Record 3 is damaged.", { seq: 3 })))).toEqual({
    name: "LogError",
    code: "LogCorrupt",
    message: "Record 3 is damaged.",
    seq: 3,
  });
});
