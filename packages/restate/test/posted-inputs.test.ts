import { TerminalError } from "@restatedev/restate-sdk";
import { describe, expect, it } from "vitest";
import { checkedDeadline } from "../src/posted-inputs.ts";

describe("a deadline of a timer", () => {
  it.each([0, 812.5, 1_800_000_000_812.5])("may be due at %d", (due) => {
    const deadline = { key: "wait", due, header: "x" };
    expect(checkedDeadline(deadline)).toEqual(deadline);
  });

  it.each([-0.5, Number.NaN, Infinity, "1", null])("is refused as due at %s", (due) => {
    expect(() => checkedDeadline({ key: "wait", due, header: "x" })).toThrow(TerminalError);
  });
});
