import { describe, expect, it } from "vitest";
import { sceneOf } from "@moora/testbed/durable/scene";
import { turn } from "@moora/testbed/test-clock";

const leaseMs = 30_000;

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
