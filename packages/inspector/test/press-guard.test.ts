import { TestClock } from "@moora/testbed/test-clock";
import { expect, it } from "vitest";
import { guardMs, PressGuard } from "../src/app/press-guard.ts";

it("a press is taken again 700 ms after the newest change of the questions", () => {
  const clock = new TestClock();
  const guard = new PressGuard(clock);
  expect(guard.isUp.value).toBe(false);
  guard.raise();
  clock.advance(guardMs - 1);
  expect(guard.isUp.value).toBe(true);
  guard.raise();
  clock.advance(guardMs - 1);
  expect(guard.isUp.value).toBe(true);
  clock.advance(1);
  expect(guard.isUp.value).toBe(false);
});
