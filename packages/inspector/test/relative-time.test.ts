import { describe, expect, it } from "vitest";
import { relativeTime } from "../src/app/relative-time.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

describe("how long ago a time was", () => {
  it.each([
    [0, "now"],
    [999, "now"],
    [1_000, "1 second ago"],
    [minute - 1, "59 seconds ago"],
    [5 * minute, "5 minutes ago"],
    [119 * minute, "1 hour ago"],
    [day, "yesterday"],
    [29 * day, "29 days ago"],
    [45 * day, "last month"],
    [800 * day, "2 years ago"],
    [-5 * minute, "in 5 minutes"],
  ])("is said in the longest unit that fits: %i ms", (ms, text) => {
    expect(relativeTime(1_800_000_000_000 - ms, 1_800_000_000_000)).toBe(text);
  });

  it("is the number for one that no clock can have", () => {
    expect(relativeTime(Infinity, 0)).toBe("Infinity");
  });
});
