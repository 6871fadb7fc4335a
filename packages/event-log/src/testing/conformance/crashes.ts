import { bodies, grow, headOf, recordsAfter } from "../chain-of.ts";
import { checkEqual, checkRefused } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

export const crashCases: readonly LogCase[] = [
  logCase("what was acknowledged is there after a crash, whatever came last", async (scene) => {
    await scene.create("a", '{"header":1}');
    const bodiesSoFar: string[] = [];
    for (const batch of [bodies(1, "one"), bodies(4, "two"), [], bodies(1, "three"), bodies(2, "four")]) {
      await grow(await scene.openAgain(), ...batch);
      bodiesSoFar.push(...batch);
      const read = (await (await scene.openAgain()).read()).map(({ body }) => body);
      checkEqual(read, bodiesSoFar, "the bodies");
    }
    checkEqual((await scene.openAgain()).header, '{"header":1}', "the header");
  }),
  logCase("a session that was just created is there after a crash", async (scene) => {
    await scene.create("a", '{"header":1}');
    checkEqual(await (await scene.openAgain()).head(), 0, "its head");
  }),
  logCase("what was refused is not there after a crash", async (scene) => {
    const session = await scene.create();
    const records = await grow(session, ...bodies(2));
    await checkRefused("Conflict", "append", () => session.append(0, records));
    checkEqual(await (await scene.openAgain()).read(), records, "the records");
  }),
  logCase("a lease that was let go of is free after a crash", async (scene) => {
    const session = await scene.create();
    await session.lease({ owner: "x", now: 0, ttlMs: 1_000 });
    await session.release("x");
    const again = await scene.openAgain();
    checkEqual((await again.lease({ owner: "y", now: 1, ttlMs: 10 })).owner, "y", "who holds it then");
  }),
  logCase("a log that was closed leaves everything for the next", async (scene) => {
    const records = await grow(await scene.create(), ...bodies(5));
    await scene.log.close();
    checkEqual(await (await scene.openAgain()).read(), records, "the records");
  }),
  logCase("a log can be closed twice", async (scene) => {
    await grow(await scene.create(), "{}");
    await scene.log.close();
    await scene.log.close();
    checkEqual(await (await scene.openAgain()).head(), 1, "the head");
  }),
  logCase("appending goes on after a crash where it stopped", async (scene) => {
    const session = await scene.create();
    const first = await grow(session, ...bodies(3));
    const again = await scene.openAgain();
    const more = recordsAfter(await headOf(again), ...bodies(3, "more"));
    await again.append(3, more);
    checkEqual(await (await scene.openAgain()).read(), [...first, ...more], "the records");
  }),
];
