import { describe, expect, it, onTestFinished, vi } from "vitest";
import { currentTimeTool } from "../src/current-time.ts";
import { runTool, textOf } from "./run-tool.ts";

const noon = Date.UTC(2026, 10, 21, 12, 0, 0);
const summer = Date.UTC(2026, 6, 1, 0, 30, 0);
const timeText = async (input: object, now: number = noon, timeZone: string = "UTC"): Promise<string> =>
  textOf(await runTool(currentTimeTool({ clock: { now: () => now }, timeZone }), input));

describe("the time", () => {
  it("is that of the given clock, in the given zone", async () => {
    expect(await timeText({})).toBe(
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
    expect(await timeText({ time_zone: zone }, now)).toContain(`(${iso}).`);
  });

  it("keeps the name of the zone as requested", async () => {
    expect(await timeText({ time_zone: "Asia/Kolkata" })).toContain(" in Asia/Kolkata (");
  });

  it.each(["Middle/Earth", "__proto__", "Europe/Oslo; rm", "x".repeat(500)])(
    "rejects the zone %s",
    async (zone) => {
      const outcome = await runTool(currentTimeTool({ clock: { now: () => noon } }), { time_zone: zone });
      expect(outcome.isSuccess).toBe(false);
      expect(textOf(outcome)).toMatch(/^Unknown time zone /);
      expect(textOf(outcome).length).toBeLessThan(200);
    },
  );

  it("comes from the clock of the machine by default", async () => {
    vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const text = textOf(await runTool(currentTimeTool(), { time_zone: "UTC" }));
    expect(text).toContain("2023-11-14T22:13:20");
  });
});
