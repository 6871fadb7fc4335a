import { check, checkEqual, checkRejected } from "../expectations.ts";
import { appendBodies } from "../chain-of.ts";
import type { SessionLog } from "../../port.ts";
import type { LogCase } from "../log-storage.ts";
import { nextTurn } from "../next-turn.ts";
import { logCase } from "../scene.ts";

const owners = ["__proto__", "", "a\0b", "'; --", '"\n"', "\u{1F600}", "x".repeat(1_000)];

const claim = { owner: "x", now: 100, ttlMs: 50 };
const claimed = { owner: "x", until: 150 };

export const leaseCases: readonly LogCase[] = [
  logCase("gives a free lease", async (scene) => {
    const session = await scene.create();
    checkEqual(
      await session.lease({ owner: "x", now: 100, ttlMs: 50 }),
      { owner: "x", until: 150 },
      "the lease",
    );
  }),
  logCase("does not give a lease that is held to another owner", async (scene) => {
    const session = await scene.create();
    const elsewhere = await scene.openElsewhere();
    await session.lease({ owner: "x", now: 100, ttlMs: 50 });
    for (const handle of [session, elsewhere]) {
      const lease = await handle.lease({ owner: "y", now: 149, ttlMs: 1_000 });
      checkEqual(lease, { owner: "x", until: 150 }, "the lease in force");
    }
  }),
  logCase("gives an expired lease to another owner, from its last instant on", async (scene) => {
    const session = await scene.create();
    await session.lease({ owner: "x", now: 100, ttlMs: 50 });
    checkEqual(
      await session.lease({ owner: "y", now: 150, ttlMs: 10 }),
      { owner: "y", until: 160 },
      "the lease",
    );
    checkEqual((await session.lease({ owner: "x", now: 151, ttlMs: 10 })).owner, "y", "the owner after that");
  }),
  logCase("the owner renews its lease, before and after it expires", async (scene) => {
    const session = await scene.create();
    for (const now of [100, 120, 500]) {
      const lease = await session.lease({ owner: "x", now, ttlMs: 50 });
      checkEqual(lease, { owner: "x", until: now + 50 }, "the lease");
    }
  }),
  logCase("a released lease is free", async (scene) => {
    const session = await scene.create();
    await session.lease({ owner: "x", now: 100, ttlMs: 50 });
    await session.release("x");
    await session.release("x");
    checkEqual((await session.lease({ owner: "y", now: 101, ttlMs: 5 })).owner, "y", "the owner after that");
  }),
  logCase("releasing the lease of another owner does nothing", async (scene) => {
    const session = await scene.create();
    await session.release("y");
    await session.lease({ owner: "x", now: 100, ttlMs: 50 });
    await session.release("y");
    checkEqual((await session.lease({ owner: "y", now: 101, ttlMs: 5 })).owner, "x", "the owner after that");
  }),
  logCase("does not give a lease that is held to a claimant whose clock is behind", async (scene) => {
    const session = await scene.create();
    await session.lease({ owner: "x", now: 100, ttlMs: 50 });
    checkEqual((await session.lease({ owner: "y", now: -1_000, ttlMs: 5 })).owner, "x", "the owner");
  }),
  logCase("an owner whose clock went back renews its lease by the new clock", async (scene) => {
    const session = await scene.create();
    await session.lease({ owner: "x", now: 1_000, ttlMs: 50 });
    const lease = await session.lease({ owner: "x", now: 10, ttlMs: 50 });
    checkEqual(lease, { owner: "x", until: 60 }, "the lease");
  }),
  logCase("of concurrent claims, one is granted, and all return it", async (scene) => {
    await scene.create();
    const handles = [await scene.open(), await scene.openElsewhere(), await scene.openElsewhere()];
    const leases = await Promise.all(
      handles.map(async (handle, index) => handle.lease({ owner: `owner ${index}`, now: 0, ttlMs: 100 })),
    );
    checkEqual(new Set(leases.map(({ owner }) => owner)).size, 1, "the number of owners");
  }),
  logCase("keeps the lease after a crash", async (scene) => {
    await (await scene.create()).lease({ owner: "x", now: 100, ttlMs: 50 });
    const again = await scene.openAgain();
    checkEqual((await again.lease({ owner: "y", now: 149, ttlMs: 5 })).owner, "x", "the owner");
  }),
  ...owners.map((owner) =>
    logCase(`accepts the owner ${JSON.stringify(owner.slice(0, 10))}`, async (scene) => {
      const session = await scene.create();
      await session.lease({ owner, now: 0, ttlMs: 50 });
      const elsewhere = await scene.openElsewhere();
      const lease = await elsewhere.lease({ owner: "other", now: 1, ttlMs: 50 });
      checkEqual(lease, { owner, until: 50 }, "the lease");
      await elsewhere.release(owner);
      checkEqual(
        (await session.lease({ owner: "other", now: 1, ttlMs: 50 })).owner,
        "other",
        "the owner after that",
      );
    }),
  ),
  logCase("accepts times of any size, with fractions", async (scene) => {
    const session = await scene.create();
    checkEqual((await session.lease({ owner: "x", now: 0.25, ttlMs: 0.5 })).until, 0.75, "a fraction");
    const lease = await session.lease({ owner: "x", now: 1_800_000_000_000.5, ttlMs: 30_000 });
    checkEqual(lease.until, 1_800_000_030_000.5, "today, with a fraction");
    checkEqual(
      await (await scene.openElsewhere()).lease({ owner: "y", now: 0, ttlMs: 1 }),
      lease,
      "the lease in another process",
    );
  }),
  logCase("reads the current lease without claiming it, in every handle", async (scene) => {
    const session = await scene.create();
    const elsewhere = await scene.openElsewhere();
    checkEqual(await session.currentLease(), undefined, "the lease before the first claim");
    await session.lease({ owner: "x", now: 100, ttlMs: 50 });
    for (const handle of [session, elsewhere, await scene.openAgain()])
      checkEqual(await handle.currentLease(), { owner: "x", until: 150 }, "the lease");

    checkEqual(
      (await elsewhere.lease({ owner: "y", now: 151, ttlMs: 9 })).owner,
      "y",
      "the owner after it expired",
    );
    checkEqual(await session.currentLease(), { owner: "y", until: 160 }, "the lease after that");
  }),
  logCase("returns the current lease after it expired, but not after its release", async (scene) => {
    const session = await scene.create();
    await session.lease({ owner: "x", now: 100, ttlMs: 50 });
    await session.lease({ owner: "y", now: 120, ttlMs: 500 });
    await session.release("y");
    checkEqual(await session.currentLease(), { owner: "x", until: 150 }, "the lease after a rejected claim");
    await session.release("x");
    checkEqual(await session.currentLease(), undefined, "the lease after its release");
    checkEqual(await (await scene.openAgain()).currentLease(), undefined, "the same after a crash");
  }),
  logCase("accepts appends of a process that does not hold the lease", async (scene) => {
    const session = await scene.create();
    await session.lease({ owner: "x", now: 0, ttlMs: 1_000 });
    const records = await appendBodies(await scene.openElsewhere(), "{}");
    checkEqual(await session.read(), records, "the records");
  }),
  logCase("creates a session with a lease, which it has in every handle and after a crash", async (scene) => {
    const session = await scene.log.create("a", "{}", claim);
    for (const handle of [session, await scene.openElsewhere(), await scene.openAgain()]) {
      checkEqual(await handle.currentLease(), claimed, "the lease");
      const lease = await handle.lease({ owner: "y", now: 149, ttlMs: 1_000 });
      checkEqual(lease, claimed, "the lease in force");
    }
    const again = await scene.openAgain();
    await again.release("x");
    checkEqual(await again.currentLease(), undefined, "the lease after its release");
    checkEqual(await again.read(), [], "its records");
  }),
  logCase("no process sees a session without the lease with which it is created", async (scene) => {
    const elsewhere = await scene.storage.open();
    const look = async (): Promise<void> => {
      for (let count = 0; count < 1_000; count += 1) {
        const session = await elsewhere.open("a");
        if (session !== undefined) return checkEqual(await session.currentLease(), claimed, "the lease");
        await nextTurn();
      }
      check(false, "the session can be seen");
    };
    const create = async (): Promise<SessionLog> => scene.log.create("a", "{}", claim);
    await Promise.all([create(), look()]);
  }),
  logCase("a creation that is rejected does not claim the lease", async (scene) => {
    const session = await scene.create();
    await checkRejected("LogExists", "create", () => scene.log.create("a", "{}", claim));
    for (const handle of [session, await scene.openAgain()])
      checkEqual(await handle.currentLease(), undefined, "the lease");
  }),
  logCase("a session that is created without a lease has none, also where one was removed", async (scene) => {
    await scene.log.create("a", '{"generation":1}', claim);
    await scene.log.remove("a");
    const session = await scene.create("a", '{"generation":2}');
    for (const handle of [session, await scene.openAgain()])
      checkEqual(await handle.currentLease(), undefined, "the lease");
  }),
];
