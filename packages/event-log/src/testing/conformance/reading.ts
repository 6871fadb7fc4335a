import { bodies, grow, growSingly, headOf, recordsAfter } from "../chain-of.ts";
import { checkEqual } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

const strangeStarts: readonly (readonly [string, number, number])[] = [
  ["the head gives nothing", 5, 5],
  ["beyond the head gives nothing", 6, 5],
  ["far beyond the head gives nothing", 1e15, 5],
  ["infinity gives nothing", Infinity, 5],
  ["a negative number gives all", -3, 0],
  ["NaN gives all", Number.NaN, 0],
  ["a fraction counts as the number below it", 2.9, 2],
];

export const readingCases: readonly LogCase[] = [
  logCase("reading gives the records after any position", async (scene) => {
    const session = await scene.create();
    const records = await grow(session, ...bodies(12));
    const again = await scene.openAgain();
    for (let after = 0; after <= 12; after += 1) {
      checkEqual(await session.read(after), records.slice(after), `the records after ${after}`);
      checkEqual(await again.read(after), records.slice(after), `the records after ${after}, opened again`);
    }
  }),
  logCase("inspecting a sound log gives all of its records, and no damage", async (scene) => {
    const session = await scene.create();
    const sound = { damage: undefined, unfinishedBytes: 0 };
    checkEqual(await session.inspect(), { records: [], ...sound }, "an empty log");
    const records = await grow(session, ...bodies(12));
    for (const handle of [session, await scene.openElsewhere(), await scene.openAgain()]) {
      checkEqual(await handle.inspect(), { records, ...sound }, "the log");
    }
  }),
  ...strangeStarts.map(([what, after, from]) =>
    logCase(`reading after ${what}`, async (scene) => {
      const session = await scene.create();
      const records = await grow(session, ...bodies(5));
      checkEqual(await session.read(after), records.slice(from), "the records");
    }),
  ),
  logCase("records come back in the order of their numbers, past 9, 99 and 999", async (scene) => {
    const session = await scene.create();
    const records = recordsAfter(await headOf(session), ...bodies(1_050));
    for (let after = 0; after < 1_050; after += 50) {
      await session.append(after, records.slice(after, after + 50));
    }
    const seqs = (await (await scene.openAgain()).read()).map(({ seq }) => seq);
    checkEqual(
      seqs,
      Array.from({ length: 1_050 }, (_, index) => index + 1),
      "the numbers",
    );
  }),
  logCase("records come back in the order of appending, whatever times they bear", async (scene) => {
    const session = await scene.create();
    const times = [300, 100, 200, 100, -1, 1e15];
    const records = await growSingly(session, ...times.map((timestamp) => JSON.stringify({ timestamp })));
    checkEqual(await session.read(), records, "the records");
    checkEqual(await (await scene.openAgain()).read(), records, "the records after a crash");
  }),
  logCase("records come back in the order of appending, whatever their bodies are", async (scene) => {
    const session = await scene.create();
    const records = await grow(session, '"b"', '"a"', '"c"', '"B"', '"10"', '"9"');
    checkEqual(await session.read(), records, "the records");
  }),
  logCase("equal bodies are as many records", async (scene) => {
    const session = await scene.create();
    const records = await growSingly(session, "{}", "{}", "{}");
    checkEqual(await session.read(), records, "the records");
  }),
  logCase("what was read cannot be used to change the log", async (scene) => {
    const session = await scene.create();
    const records = await grow(session, ...bodies(3));
    const mine = await session.read();
    for (const record of mine) Reflect.set(record, "body", '"mine"');
    if (Array.isArray(mine)) mine.length = 0;
    checkEqual(await session.read(), records, "the records");
    checkEqual(await session.head(), 3, "the head");
  }),
  logCase("a long log is read from near its end as from its beginning", async (scene) => {
    const session = await scene.create();
    const large = JSON.stringify("x".repeat(20_000));
    for (let round = 0; round < 10; round += 1) await grow(session, large, "{}", large);
    const all = await session.read();
    const again = await scene.openAgain();
    for (const after of [29, 27, 14, 3, 0]) {
      checkEqual(await again.read(after), all.slice(after), `the records after ${after}`);
    }
    const more = recordsAfter(await headOf(again), "{}");
    await again.append(30, more);
    checkEqual(await session.read(28), [...all.slice(28), ...more], "the records after 28 with a new one");
  }),
];
