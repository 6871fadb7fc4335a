import { bodies, appendBodies, appendOneByOne, snapshotOf } from "../chain-of.ts";
import { checkEqual } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

export const isolationCases: readonly LogCase[] = [
  logCase("keeps the records of sessions apart", async (scene) => {
    const [one, other] = [await scene.create("one"), await scene.create("other")];
    const first = await appendBodies(one, ...bodies(3, "one"));
    checkEqual(await other.read(), [], "the other is empty");
    const second = await appendBodies(other, ...bodies(2, "other"));
    checkEqual(await one.read(), first, "the one");
    checkEqual(await other.read(), second, "the other");
  }),
  logCase("keeps sessions with equal headers and records apart", async (scene) => {
    const [one, other] = [await scene.create("one"), await scene.create("other")];
    await appendBodies(one, ...bodies(3));
    await appendBodies(other, ...bodies(3));
    await appendBodies(one, '{"more":1}');
    checkEqual([await one.head(), await other.head()], [4, 3], "the heads");
  }),
  logCase("removing a session keeps the others", async (scene) => {
    await appendBodies(await scene.create("a"), ...bodies(2));
    const records = await appendBodies(await scene.create("ab"), ...bodies(3));
    await scene.log.remove("a");
    checkEqual(await (await scene.openAgain("ab")).read(), records, "the records of the other");
  }),
  logCase("each session has its own lease and snapshot", async (scene) => {
    const [one, other] = [await scene.create("one"), await scene.create("other")];
    await one.lease({ owner: "x", now: 0, ttlMs: 1_000 });
    await one.saveSnapshot(snapshotOf(0, '"one"'));
    checkEqual((await other.lease({ owner: "y", now: 0, ttlMs: 1_000 })).owner, "y", "the other's lease");
    checkEqual(await other.snapshot(), undefined, "the other's snapshot");
    await other.saveSnapshot(snapshotOf(0, '"other"'));
    checkEqual((await one.snapshot())?.body, '"one"', "the one's snapshot");
    checkEqual((await one.lease({ owner: "z", now: 1, ttlMs: 1_000 })).owner, "x", "the one's lease");
  }),
  logCase("keeps thirty sessions apart that are appended to in turn", async (scene) => {
    const ids = Array.from({ length: 30 }, (_, index) => `session-${index}`);
    for (const id of ids) await scene.create(id, JSON.stringify({ id }));
    for (let turn = 0; turn < 3; turn += 1)
      for (const id of ids) await appendOneByOne(await scene.open(id), JSON.stringify({ id, turn }));

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
