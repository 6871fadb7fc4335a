import { describe, expect, it } from "vitest";
import { fileNameOf } from "../src/jsonl/file-name.ts";

const ids = [
  "a",
  "A",
  "con",
  "..",
  "../../etc/passwd",
  "a/b",
  "a\\b",
  "a:b",
  "\0",
  "x".repeat(200),
  `${"x".repeat(199)}X`,
  "\u{1F600}".repeat(100),
  "İ".repeat(200),
  "session 7",
  "-",
  "",
];

describe("the name of a session's file", () => {
  it.each(ids)("is safe on every disk: %j", (id) => {
    expect(fileNameOf(id)).toMatch(/^[a-z0-9][a-z0-9-]{33,120}$/);
  });

  it("differs for every id, also on disks that ignore case", () => {
    expect(new Set(ids.map((id) => fileNameOf(id).toLowerCase())).size).toBe(ids.length);
  });

  it("contains the readable characters of the id", () => {
    expect(fileNameOf("Order 7/Ada")).toMatch(/^order-7-ada-[0-9a-f]{32}$/);
  });
});
