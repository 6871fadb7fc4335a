import type { Snapshot } from "../../port.ts";
import { bodies, appendBodies, appendOneByOne, snapshotOf } from "../chain-of.ts";
import { check, checkEqual, checkRejected } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

const snapshot = (seq: number, body = '{"state":1}', version = "7"): Snapshot =>
  snapshotOf(seq, body, version, "AAAAAAAAAAAAAAAAAAAAAA");

const strangeTexts = ['{"a":"\0b"}', "", "\u{1F600}\n\u0001", '"\uFFFD"', "{}"];

const strangeBodies: readonly (readonly [string, string])[] = [
  ["an empty body", ""],
  ["line breaks and NUL", '{\n"a":"\0"}\n'],
  ["characters of four bytes and U+2028", '"\u{1F600}\u2028"'],
  ["one million characters", JSON.stringify("x".repeat(1_000_000))],
];

export const snapshotCases: readonly LogCase[] = [
  logCase("a new session has no snapshot", async (scene) => {
    checkEqual(await (await scene.create()).snapshot(), undefined, "the snapshot");
  }),
  logCase("returns the snapshot that was saved last, in every handle and after a crash", async (scene) => {
    const session = await scene.create();
    await appendBodies(session, ...bodies(3));
    await session.saveSnapshot(snapshot(3));
    await session.saveSnapshot(snapshot(2, '{"state":2}'));
    for (const handle of [session, await scene.openElsewhere(), await scene.openAgain()])
      checkEqual(await handle.snapshot(), snapshot(2, '{"state":2}'), "the snapshot");
  }),
  logCase("keeps any version of a snapshot", async (scene) => {
    const session = await scene.create();
    for (const version of ["", "0", "999.0", "__proto__", "\u{1F600}", "a\0b"]) {
      await session.saveSnapshot(snapshot(0, "{}", version));
      checkEqual((await session.snapshot())?.version, version, "the version");
    }
  }),
  ...strangeBodies.map(([what, body]) =>
    logCase(`keeps a snapshot with ${what}`, async (scene) => {
      const session = await scene.create();
      await session.saveSnapshot(snapshot(0, body));
      checkEqual(await (await scene.openAgain()).snapshot(), snapshot(0, body), "the snapshot");
    }),
  ),
  logCase("appending keeps the snapshot, and the snapshot is not a record", async (scene) => {
    const session = await scene.create();
    await session.saveSnapshot(snapshot(0));
    const records = await appendBodies(session, ...bodies(2));
    checkEqual(await session.read(), records, "the records");
    checkEqual(await session.snapshot(), snapshot(0), "the snapshot");
  }),
  logCase("does not return a snapshot whose body does not match its digest", async (scene) => {
    const session = await scene.create();
    await session.saveSnapshot({ ...snapshot(0), body: '{"state":2}' });
    checkEqual(await session.snapshot(), undefined, "the snapshot");
    checkEqual(await (await scene.openAgain()).snapshot(), undefined, "the snapshot after a crash");
  }),
  logCase(
    "checkUpTo accepts every position of an undamaged log, also after appends of another process",
    async (scene) => {
      const session = await scene.create();
      await session.checkUpTo(0);
      await appendOneByOne(session, ...strangeTexts);
      await session.saveSnapshot(snapshot(3));
      await appendBodies(await scene.openElsewhere(), ...bodies(4));
      await session.saveSnapshot(snapshot(6));
      await appendBodies(session, ...bodies(2));
      for (const handle of [session, await scene.openElsewhere(), await scene.openAgain()])
        for (let seq = 0; seq <= strangeTexts.length + 6; seq += 1) await handle.checkUpTo(seq);
    },
  ),
  logCase("checkUpTo finds missing records", async (scene) => {
    const session = await scene.create();
    await appendBodies(session, ...bodies(3));
    const error = await checkRejected("LogCorrupt", "checkUpTo", () => session.checkUpTo(5));
    checkEqual(error.seq, 4, "the record that the error names");
  }),
  ...[true, false].map((hasSnapshot) =>
    logCase(
      `checkUpTo finds damage to the records ${hasSnapshot ? "before a snapshot" : "of a log without a snapshot"}`,
      async (scene) => {
        const session = await scene.create();
        await appendOneByOne(session, ...bodies(20));
        if (hasSnapshot) await session.saveSnapshot(snapshot(15));
        await scene.rewrite("a", (records) =>
          records.map((record) => (record.seq === 7 ? { ...record, body: `${record.body} ` } : record)),
        );
        for (const handle of [await scene.openElsewhere(), await scene.openAgain()]) {
          const error = await checkRejected("LogCorrupt", "checkUpTo", () => handle.checkUpTo(15));
          checkEqual(error.seq, 7, "the record that the error names");
        }
      },
      "rewrite",
    ),
  ),
  logCase(
    "(A02) does not return a damaged snapshot, and another one can be saved",
    async (scene) => {
      const session = await scene.create();
      const records = await appendBodies(session, ...bodies(3));
      await session.saveSnapshot(snapshot(3));
      check(scene.storage.damageSnapshot !== undefined, "the storage can damage a snapshot");
      await scene.storage.damageSnapshot("a");
      const again = await scene.openAgain();
      checkEqual(await again.snapshot(), undefined, "the snapshot");
      checkEqual(await again.read(), records, "the records");
      await again.saveSnapshot(snapshot(3));
      checkEqual(await again.snapshot(), snapshot(3), "the new snapshot");
    },
    "damageSnapshot",
  ),
];
