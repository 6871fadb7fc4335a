import { memoryLog, MemoryStorage } from "@moora/event-log";
import { MockLlmCaller } from "@moora/llm/testing";
import { remoteLog } from "@moora/testbed/durable/remote-log";
import { sceneOf } from "@moora/testbed/durable/scene";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { defineAgent, openSession, type LogEntry, type OpenOptions } from "../../src/index.ts";

const leaseMs = 30_000;

/** A session whose log takes as long as the test says for each claim. */
function slowScene() {
  const near = memoryLog(new MemoryStorage());
  const clock = new TestClock();
  const slow = { ms: 0, claims: 0 };
  const log = remoteLog(near, async ({ call, way }) => {
    if (call !== "lease" || way === "there") return;
    slow.claims += 1;
    if (slow.ms > 0) await new Promise<void>((resolve) => void clock.after(slow.ms, resolve));
  });
  const agent = defineAgent({ name: "slow", llm: new MockLlmCaller([]) });
  return {
    near,
    clock,
    slow,
    open: (options: Partial<OpenOptions> = {}) =>
      openSession(agent, { log, id: "ada", clock, leaseMs, ...options }),
  };
}

describe("a log that is slow to answer", () => {
  it("gets the next claim of an owner at once, after one that took most of its time", async () => {
    const { near, clock, slow, open } = slowScene();
    const session = await open();
    const log = await near.open("ada");
    slow.ms = 20_000;
    await clock.advanceAsync(leaseMs / 3);
    await clock.advanceAsync(20_000);
    slow.ms = 0;
    await clock.advanceAsync(1);
    expect((await log?.currentLease())?.until).toBe(clock.now() + leaseMs);
    expect(session.info().leaseUntil).toBe(clock.now() + leaseMs);
    await session.close();
  });

  it("gives no lease that has ended before the answer arrives: it is claimed again", async () => {
    const { clock, slow, open } = slowScene();
    slow.ms = leaseMs;
    const opening = open();
    while (slow.claims < 1) await turn();
    slow.ms = 0;
    await clock.advanceAsync(leaseMs);
    const session = await opening;
    expect(slow.claims).toBe(2);
    expect(session.info().leaseUntil).toBe(clock.now() + leaseMs);
    await session.close();
  });

  it("is awaited, with an entry for the logger, if another owner has the lease after a late answer", async () => {
    const { near, clock, slow, open } = slowScene();
    await (await open()).close();
    slow.ms = leaseMs;
    slow.claims = 0;
    const entries: LogEntry[] = [];
    const opening = open({ waitMs: 2 * leaseMs, onLog: (entry) => void entries.push(entry) });
    while (slow.claims < 1) await turn();
    slow.ms = 0;
    const log = await near.open("ada");
    await log?.lease({ owner: "other##1", now: clock.now() + leaseMs, ttlMs: leaseMs });
    await clock.advanceAsync(leaseMs);
    while (slow.claims < 2) await turn();
    await turn();
    await log?.release("other##1");
    await clock.advanceAsync(250);
    await (await opening).close();
    expect(entries.map(({ code }) => code)).toEqual(["lease-awaited", "session-opened", "session-closed"]);
  });

  it("cannot be opened if each answer takes longer than the lease", async () => {
    const { near, clock, slow, open } = slowScene();
    slow.ms = leaseMs;
    const opening = open();
    opening.catch(() => undefined);
    for (let claims = 1; claims <= 3; claims += 1) {
      while (slow.claims < claims) await turn();
      await clock.advanceAsync(leaseMs);
    }
    await expect(opening).rejects.toMatchObject({ code: "LogBusy" });
    expect(await (await near.open("ada"))?.currentLease()).toBeUndefined();
  });
});

describe("the lease of an owner that lives", () => {
  it("is renewed long before its time is over, so that a slow log or a late timer does not lose it", async () => {
    const scene = sceneOf();
    const session = await scene.open({ leaseMs });
    const log = await scene.log().open("ada");
    for (let step = 0; step < 60; step += 1) {
      await scene.clock.advanceAsync(leaseMs / 20);
      await turn();
      const now = scene.clock.now();
      // A fifth of its time is what a pause of the process may take at any moment.
      expect(session.info().leaseUntil).toBeGreaterThanOrEqual(now + leaseMs / 5);
      expect((await log?.currentLease())?.until).toBe(session.info().leaseUntil);
    }
    await session.close();
    expect(await log?.currentLease()).toBeUndefined();
  });

  it("keeps others out at every moment", async () => {
    const scene = sceneOf();
    const session = await scene.open({ leaseMs });
    for (let step = 0; step < 4; step += 1) {
      await scene.clock.advanceAsync(leaseMs - 1);
      const other = scene.open({ leaseMs, owner: "other" });
      await expect(other).rejects.toMatchObject({ code: "SessionBusy" });
    }
    await session.close();
  });
});
