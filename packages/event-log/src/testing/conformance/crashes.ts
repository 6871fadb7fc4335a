import { bodies, appendBodies, headOf, recordsAfter } from "../chain-of.ts";
import { checkEqual, checkRejected } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

export const crashCases: readonly LogCase[] = [
  logCase("keeps acknowledged records after a crash", async (scene) => {
    await scene.create("a", '{"header":1}');
    const bodiesSoFar: string[] = [];
    for (const batch of [bodies(1, "one"), bodies(4, "two"), [], bodies(1, "three"), bodies(2, "four")]) {
      await appendBodies(await scene.openAgain(), ...batch);
      bodiesSoFar.push(...batch);
      const read = (await (await scene.openAgain()).read()).map(({ body }) => body);
      checkEqual(read, bodiesSoFar, "the bodies");
    }
    checkEqual((await scene.openAgain()).header, '{"header":1}', "the header");
  }),
  logCase("keeps a new session after a crash", async (scene) => {
    await scene.create("a", '{"header":1}');
    checkEqual(await (await scene.openAgain()).head(), 0, "its head");
  }),
  logCase("does not keep rejected records after a crash", async (scene) => {
    const session = await scene.create();
    const records = await appendBodies(session, ...bodies(2));
    await checkRejected("Conflict", "append", () => session.append(0, records));
    checkEqual(await (await scene.openAgain()).read(), records, "the records");
  }),
  logCase("a released lease is free after a crash", async (scene) => {
    const session = await scene.create();
    await session.lease({ owner: "x", now: 0, ttlMs: 1_000 });
    await session.release("x");
    const again = await scene.openAgain();
    checkEqual((await again.lease({ owner: "y", now: 1, ttlMs: 10 })).owner, "y", "its owner after that");
  }),
  logCase("closing a log keeps its records", async (scene) => {
    const records = await appendBodies(await scene.create(), ...bodies(5));
    await scene.log.close();
    checkEqual(await (await scene.openAgain()).read(), records, "the records");
  }),
  logCase("a log can be closed twice", async (scene) => {
    await appendBodies(await scene.create(), "{}");
    await scene.log.close();
    await scene.log.close();
    checkEqual(await (await scene.openAgain()).head(), 1, "the head");
  }),
  logCase("appending continues at the head after a crash", async (scene) => {
    const session = await scene.create();
    const first = await appendBodies(session, ...bodies(3));
    const again = await scene.openAgain();
    const more = recordsAfter(await headOf(again), ...bodies(3, "more"));
    await again.append(3, more);
    checkEqual(await (await scene.openAgain()).read(), [...first, ...more], "the records");
  }),
];
