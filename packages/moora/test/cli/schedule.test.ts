import { afterEach, beforeEach, expect, it } from "vitest";
import { systemClock } from "@moora/agent";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
});
afterEach(() => place[Symbol.dispose]());

/** A command without a terminal. */
async function cli(...args: readonly string[]) {
  const host = new TestHost({ cwd: place.path });
  return { code: await host.run(args), out: host.stdout.text, err: host.stderr.text };
}

it("sets, lists, shows and removes the schedules of a session", async () => {
  await cli("run", "what is 2+2?", "--provider", "planner", "--session", "ada");
  expect((await cli("schedule", "ada")).out).toBe("No schedules.\n");
  const set = await cli(
    "schedule",
    "ada",
    "Report.",
    "--cron",
    "0 9 * * 1-5",
    "--time-zone",
    "Europe/Berlin",
    "--id",
    "daily",
  );
  expect(set.out).toContain("Scheduled as daily.");
  await cli("schedule", "ada", "Look again.", "--every", "30m", "--skip-missed", "--id", "often");
  await cli("schedule", "ada", "Happy new year.", "--time", "2040-01-01T00:00:00Z", "--id", "once");
  const { out } = await cli("schedule", "ada");
  expect(out).toMatch(/^daily .* 0 9 \* \* 1-5 Europe\/Berlin {2}by application: Report\.$/m);
  expect(out).toMatch(/^often .* every 1800000 ms {2}by application: Look again\.$/m);
  expect(out).toMatch(/^once .* once {2}by application: Happy new year\.$/m);
  expect((await cli("show", "ada")).out).toContain("daily");
  expect((await cli("log", "ada")).out).toContain("schedule daily set by application: Report.");
  expect((await cli("schedule", "ada", "--remove", "daily")).out).toBe("Removed daily.\n");
  expect(await cli("schedule", "ada", "--remove", "daily")).toMatchObject({
    code: 5,
    err: expect.stringContaining('no schedule "daily"'),
  });
  const later = new TestHost({ cwd: place.path });
  later.clock = { ...systemClock, now: () => systemClock.now() + 86_400_000 };
  await later.run(["prune", "--older-than", "1h"]);
  expect(later.stdout.text).toBe("ada  kept: scheduled\n");
});

it("says what is wrong with a time", async () => {
  await cli("run", "what is 2+2?", "--provider", "planner", "--session", "ada");
  expect(await cli("schedule", "ada", "Hi")).toMatchObject({
    code: 5,
    err: expect.stringContaining("one of at, everyMs and cron"),
  });
  expect((await cli("schedule", "ada", "Hi", "--cron", "0 9 * * *", "--time-zone", "Mars")).err).toContain(
    "IANA",
  );
  expect((await cli("schedule", "ada", "Hi", "--time", "2040-01-01")).err).toContain("with an offset");
});
