import { describe, expect, it } from "vitest";
import { currentTimeTool } from "../src/current-time.ts";
import { runTool, textOf } from "./run-tool.ts";

const noon = Date.UTC(2026, 10, 21, 12, 0, 0);
const summer = Date.UTC(2026, 6, 1, 0, 30, 0);
const told = async (input: object, now: number = noon, timeZone: string = "UTC"): Promise<string> =>
  textOf(await runTool(currentTimeTool({ clock: { now: () => now }, timeZone }), input));

describe("the time", () => {
  it("is that of the clock it was given, in the zone it was given", async () => {
    expect(await told({})).toBe(
      "It is Saturday, 21 November 2026 at 12:00:00 in UTC (2026-11-21T12:00:00+00:00).",
    );
  });

  it.each([
    ["Europe/Oslo", noon, "2026-11-21T13:00:00+01:00"],
    ["Europe/Oslo", summer, "2026-07-01T02:30:00+02:00"],
    ["America/New_York", summer, "2026-06-30T20:30:00-04:00"],
    ["Asia/Kathmandu", noon, "2026-11-21T17:45:00+05:45"],
    ["America/St_Johns", noon, "2026-11-21T08:30:00-03:30"],
    ["utc", noon, "2026-11-21T12:00:00+00:00"],
    ["Oslo", noon, "2026-11-21T13:00:00+01:00"],
    ["new york", noon, "2026-11-21T07:00:00-05:00"],
  ])("in %s at %i is %s", async (zone, now, iso) => {
    expect(await told({ time_zone: zone }, now)).toContain(`(${iso}).`);
  });

  it("keeps the name of the zone as it was asked for", async () => {
    expect(await told({ time_zone: "Asia/Kolkata" })).toContain(" in Asia/Kolkata (");
  });

  it.each(["Middle/Earth", "__proto__", "Europe/Oslo; rm", "x".repeat(500)])(
    "has no zone %s",
    async (zone) => {
      const outcome = await runTool(currentTimeTool({ clock: { now: () => noon } }), { time_zone: zone });
      expect(outcome.isSuccess).toBe(false);
      expect(textOf(outcome)).toMatch(/^There is no time zone /);
      expect(textOf(outcome).length).toBeLessThan(200);
    },
  );

  it("comes from the machine when nothing else is given", async () => {
    const before = Date.now();
    const text = textOf(await runTool(currentTimeTool(), { time_zone: "UTC" }));
    const at = Date.parse(/\((.*)\)\.$/.exec(text)?.[1] ?? "");
    expect(at).toBeGreaterThanOrEqual(before - 1_000);
    expect(at).toBeLessThanOrEqual(Date.now());
  });
});
