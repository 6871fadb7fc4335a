import { bodies, appendBodies, appendOneByOne, headOf, recordsAfter } from "../chain-of.ts";
import { checkEqual } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

const strangeStarts: readonly (readonly [string, number, number])[] = [
  ["the head returns nothing", 5, 5],
  ["beyond the head returns nothing", 6, 5],
  ["far beyond the head returns nothing", 1e15, 5],
  ["infinity returns nothing", Infinity, 5],
  ["a negative number returns all", -3, 0],
  ["NaN returns all", Number.NaN, 0],
  ["a fraction is rounded down", 2.9, 2],
];

export const readingCases: readonly LogCase[] = [
  logCase("reads the records after any position", async (scene) => {
    const session = await scene.create();
    const records = await appendBodies(session, ...bodies(12));
    const again = await scene.openAgain();
    for (let after = 0; after <= 12; after += 1) {
      checkEqual(await session.read(after), records.slice(after), `the records after ${after}`);
      checkEqual(await again.read(after), records.slice(after), `the records after ${after}, opened again`);
    }
  }),
  logCase("reads a part of the records after any position", async (scene) => {
    const session = await scene.create();
    const records = await appendBodies(session, ...bodies(12));
    for (let after = 0; after <= 13; after += 1) {
      for (const limit of [1, 5, 12, 13, Infinity]) {
        const read = await session.read(after, limit);
        checkEqual(read, records.slice(after, after + read.length), `the records after ${after}`);
        const isEnough = read.length >= Math.min(limit, 12 - after);
        checkEqual(isEnough, true, `whether there are ${limit} records after ${after}`);
      }
    }
  }),
  logCase("inspecting an undamaged log returns all of its records", async (scene) => {
    const session = await scene.create();
    const undamaged = { damage: undefined, unfinishedBytes: 0 };
    checkEqual(await session.inspect(), { records: [], ...undamaged }, "an empty log");
    const records = await appendBodies(session, ...bodies(12));
    for (const handle of [session, await scene.openElsewhere(), await scene.openAgain()])
      checkEqual(await handle.inspect(), { records, ...undamaged }, "the log");
  }),
  ...strangeStarts.map(([what, after, from]) =>
    logCase(`reading after ${what}`, async (scene) => {
      const session = await scene.create();
      const records = await appendBodies(session, ...bodies(5));
      checkEqual(await session.read(after), records.slice(from), "the records");
    }),
  ),
  logCase("reads records in the order of their numbers, past 9, 99 and 999", async (scene) => {
    const session = await scene.create();
    const records = recordsAfter(await headOf(session), ...bodies(1_050));
    for (let after = 0; after < 1_050; after += 50)
      await session.append(after, records.slice(after, after + 50));

    const seqs = (await (await scene.openAgain()).read()).map(({ seq }) => seq);
    checkEqual(
      seqs,
      Array.from({ length: 1_050 }, (_, index) => index + 1),
      "the numbers",
    );
  }),
  logCase("reads records in the order of appending, not of their timestamps", async (scene) => {
    const session = await scene.create();
    const times = [300, 100, 200, 100, -1, 1e15];
    const records = await appendOneByOne(session, ...times.map((timestamp) => JSON.stringify({ timestamp })));
    checkEqual(await session.read(), records, "the records");
    checkEqual(await (await scene.openAgain()).read(), records, "the records after a crash");
  }),
  logCase("reads records in the order of appending, not of their bodies", async (scene) => {
    const session = await scene.create();
    const records = await appendBodies(session, '"b"', '"a"', '"c"', '"B"', '"10"', '"9"');
    checkEqual(await session.read(), records, "the records");
  }),
  logCase("keeps records with equal bodies", async (scene) => {
    const session = await scene.create();
    const records = await appendOneByOne(session, "{}", "{}", "{}");
    checkEqual(await session.read(), records, "the records");
  }),
  logCase("changes to records that were read do not change the log", async (scene) => {
    const session = await scene.create();
    const records = await appendBodies(session, ...bodies(3));
    const mine = await session.read();
    for (const record of mine) Reflect.set(record, "body", '"mine"');
    if (Array.isArray(mine)) mine.length = 0;
    checkEqual(await session.read(), records, "the records");
    checkEqual(await session.head(), 3, "the head");
  }),
  logCase("reads a long log from positions near its end and its beginning", async (scene) => {
    const session = await scene.create();
    const large = JSON.stringify("x".repeat(20_000));
    for (let count = 0; count < 10; count += 1) await appendBodies(session, large, "{}", large);
    const all = await session.read();
    const again = await scene.openAgain();
    for (const after of [29, 27, 14, 3, 0])
      checkEqual(await again.read(after), all.slice(after), `the records after ${after}`);

    const more = recordsAfter(await headOf(again), "{}");
    await again.append(30, more);
    checkEqual(await again.read(28), [...all.slice(28), ...more], "the records after 28 with a new one");
  }),
];
