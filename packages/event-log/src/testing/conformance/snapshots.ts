import type { Snapshot } from "../../port.ts";
import { bodies, grow } from "../chain-of.ts";
import { check, checkEqual } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

const snapshot = (seq: number, body = '{"state":1}', version = "7"): Snapshot => ({
  seq,
  digest: "AAAAAAAAAAAAAAAAAAAAAA",
  version,
  body,
});

const strangeBodies: readonly (readonly [string, string])[] = [
  ["nothing in it", ""],
  ["line breaks and NUL", '{\n"a":"\0"}\n'],
  ["characters of four bytes and U+2028", '"\u{1F600}\u2028"'],
  ["one million characters", JSON.stringify("x".repeat(1_000_000))],
];

export const snapshotCases: readonly LogCase[] = [
  logCase("at first there is no snapshot", async (scene) => {
    checkEqual(await (await scene.create()).snapshot(), undefined, "the snapshot");
  }),
  logCase("the snapshot saved last is answered, here, elsewhere and after a crash", async (scene) => {
    const session = await scene.create();
    await grow(session, ...bodies(3));
    await session.saveSnapshot(snapshot(3));
    await session.saveSnapshot(snapshot(2, '{"state":2}'));
    for (const handle of [session, await scene.openElsewhere(), await scene.openAgain()]) {
      checkEqual(await handle.snapshot(), snapshot(2, '{"state":2}'), "the snapshot");
    }
  }),
  logCase("a snapshot keeps the version that it was given, whatever that is", async (scene) => {
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
  logCase("a snapshot is no record, and records do not touch it", async (scene) => {
    const session = await scene.create();
    await session.saveSnapshot(snapshot(0));
    const records = await grow(session, ...bodies(2));
    checkEqual(await session.read(), records, "the records");
    checkEqual(await session.snapshot(), snapshot(0), "the snapshot");
  }),
  logCase(
    "(A02) a damaged snapshot is not answered, and another can be saved",
    async (scene) => {
      const session = await scene.create();
      const records = await grow(session, ...bodies(3));
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
