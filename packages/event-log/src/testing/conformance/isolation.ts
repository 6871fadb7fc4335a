import { bodies, grow, growSingly, snapshotOf } from "../chain-of.ts";
import { checkEqual } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

export const isolationCases: readonly LogCase[] = [
  logCase("records of one session do not appear in another", async (scene) => {
    const [one, other] = [await scene.create("one"), await scene.create("other")];
    const first = await grow(one, ...bodies(3, "one"));
    checkEqual(await other.read(), [], "the other is empty");
    const second = await grow(other, ...bodies(2, "other"));
    checkEqual(await one.read(), first, "the one");
    checkEqual(await other.read(), second, "the other");
  }),
  logCase("sessions with equal headers and equal records are kept apart", async (scene) => {
    const [one, other] = [await scene.create("one"), await scene.create("other")];
    await grow(one, ...bodies(3));
    await grow(other, ...bodies(3));
    await grow(one, '{"more":1}');
    checkEqual([await one.head(), await other.head()], [4, 3], "the heads");
  }),
  logCase("removing one session leaves the others", async (scene) => {
    await grow(await scene.create("a"), ...bodies(2));
    const records = await grow(await scene.create("ab"), ...bodies(3));
    await scene.log.remove("a");
    checkEqual(await (await scene.openAgain("ab")).read(), records, "the records of the other");
  }),
  logCase("each session has a lease and a snapshot of its own", async (scene) => {
    const [one, other] = [await scene.create("one"), await scene.create("other")];
    await one.lease({ owner: "x", now: 0, ttlMs: 1_000 });
    await one.saveSnapshot(snapshotOf(0, '"one"'));
    checkEqual((await other.lease({ owner: "y", now: 0, ttlMs: 1_000 })).owner, "y", "the other's lease");
    checkEqual(await other.snapshot(), undefined, "the other's snapshot");
    await other.saveSnapshot(snapshotOf(0, '"other"'));
    checkEqual((await one.snapshot())?.body, '"one"', "the one's snapshot");
    checkEqual((await one.lease({ owner: "z", now: 1, ttlMs: 1_000 })).owner, "x", "the one's lease");
  }),
  logCase("thirty sessions that grow by turns do not mix", async (scene) => {
    const ids = Array.from({ length: 30 }, (_, index) => `session-${index}`);
    for (const id of ids) await scene.create(id, JSON.stringify({ id }));
    for (let turn = 0; turn < 3; turn += 1) {
      for (const id of ids) await growSingly(await scene.open(id), JSON.stringify({ id, turn }));
    }
    for (const id of ids) {
      const read = (await (await scene.open(id)).read()).map(({ body }) => body);
      checkEqual(
        read,
        [0, 1, 2].map((turn) => JSON.stringify({ id, turn })),
        `the bodies of ${id}`,
      );
    }
  }),
];
