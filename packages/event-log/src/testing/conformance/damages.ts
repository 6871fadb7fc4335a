import type { LogRecord } from "../../port.ts";
import { bodies, grow, growSingly } from "../chain-of.ts";
import { check, checkEqual, checkRefused } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase, type Scene } from "../scene.ts";

type Edit = (records: readonly LogRecord[], other: readonly LogRecord[]) => readonly LogRecord[];

const renumbered = (records: readonly LogRecord[]): readonly LogRecord[] =>
  records.map((record, index) => ({ ...record, seq: index + 1 }));

const changedAt =
  (seq: number, change: (record: LogRecord) => Partial<LogRecord>): Edit =>
  (records) =>
    records.map((record) => (record.seq === seq ? { ...record, ...change(record) } : record));

/** Turns one bit of one character, and leaves the text as long as it was. */
const flipped = (text: string, index: number): string =>
  text.slice(0, index) + String.fromCharCode(text.charCodeAt(index) ^ 1) + text.slice(index + 1);

const moved = (records: readonly LogRecord[], from: number, to: number): LogRecord[] => {
  const record = records[from];
  check(record !== undefined, "there is such a record");
  return records.toSpliced(to, 0, record);
};

/** What was done to twenty records, where it must be noticed, and how. */
const damages: readonly (readonly [string, number, Edit])[] = [
  ["a body was altered", 7, changedAt(7, ({ body }) => ({ body: flipped(body, 9) }))],
  ["the first body was altered", 1, changedAt(1, ({ body }) => ({ body: flipped(body, 9) }))],
  ["the last body was altered", 20, changedAt(20, ({ body }) => ({ body: flipped(body, 9) }))],
  ["a body was emptied", 12, changedAt(12, () => ({ body: "" }))],
  [
    "the account of a change was altered",
    7,
    changedAt(7, ({ changed }) => ({ changed: flipped(changed, 2) })),
  ],
  ["a digest was altered", 7, changedAt(7, ({ digest }) => ({ digest: flipped(digest, 4) }))],
  ["the first digest was altered", 1, changedAt(1, ({ digest }) => ({ digest: flipped(digest, 4) }))],
  [
    "body and change were exchanged",
    9,
    changedAt(9, ({ body, changed }) => ({ body: changed, changed: body })),
  ],
  [
    "(B05) two records were swapped",
    5,
    (records) => renumbered(records.with(4, at(records, 10)).with(10, at(records, 4))),
  ],
  [
    "(B05) neighbours were swapped",
    5,
    (records) => renumbered(records.with(4, at(records, 5)).with(5, at(records, 4))),
  ],
  ["(B05) a record was copied to a later place", 12, (records) => renumbered(moved(records, 3, 11))],
  ["(B05) a record was copied beside itself", 5, (records) => renumbered(moved(records, 3, 4))],
  [
    "(B05) a record was put in the place of another",
    9,
    (records) => renumbered(records.with(8, at(records, 2))),
  ],
  ["(B05) the first record was deleted", 1, (records) => renumbered(records.slice(1))],
  ["(B05) a record was deleted", 8, (records) => renumbered(records.toSpliced(7, 1))],
  ["(B05) a record was deleted and left a gap", 8, (records) => records.toSpliced(7, 1)],
  ["(B05) many records were deleted", 3, (records) => renumbered(records.toSpliced(2, 15))],
  [
    "(B05) a record of another session was put between",
    6,
    (records, other) => renumbered(records.toSpliced(5, 0, at(other, 5))),
  ],
  [
    "(B05) a record of another session was put in the place of one",
    6,
    (records, other) => records.with(5, at(other, 5)),
  ],
  [
    "(B05) the rest is of another session",
    11,
    (records, other) => [...records.slice(0, 10), ...other.slice(10)],
  ],
  ["(B05) all is of another session", 1, (_records, other) => other],
];

function at(records: readonly LogRecord[], index: number): LogRecord {
  const record = records[index];
  check(record !== undefined, "there is such a record");
  return record;
}

const damageCase = (how: string, isBatch: boolean, [what, seq, edit]: (typeof damages)[number]): LogCase =>
  logCase(
    `finds out that ${what}, among records appended ${how}`,
    async (scene) => {
      const [session, other] = [await scene.create("a", '{"of":"a"}'), await scene.create("b", '{"of":"b"}')];
      const records = await (isBatch ? grow : growSingly)(session, ...bodies(20, "a"));
      const others = await growSingly(other, ...bodies(20, "b"));
      await scene.rewrite("a", (stored) => edit(stored, others));
      await checkCorrupt(scene, seq);
      await checkInspection(scene, records, isBatch ? 0 : seq - 1, seq);
      checkEqual(await (await scene.openAgain("b")).read(), others, "the other session is sound");
    },
    "rewrite",
  );

export const damageCases: readonly LogCase[] = [
  ...damages.map((damage) => damageCase("singly", false, damage)),
  ...damages.map((damage) => damageCase("as a batch", true, damage)),
  logCase(
    "what stands before the damage is not appended to, nor mended",
    async (scene) => {
      await growSingly(await scene.create(), ...bodies(9));
      const alter = changedAt(4, () => ({ body: '{"altered":true}' }));
      await scene.rewrite("a", (records) => alter(records, []));
      await checkCorrupt(scene, 4);
      await checkCorrupt(scene, 4);
    },
    "rewrite",
  ),
  logCase(
    "a gap is found out also by who reads from there on",
    async (scene) => {
      await growSingly(await scene.create(), ...bodies(20));
      await scene.rewrite("a", (records) => records.toSpliced(7, 1));
      for (const after of [7, 8]) {
        await checkRefused("LogCorrupt", `opening, and reading after ${after}`, async () =>
          (await scene.openAgain()).read(after),
        );
      }
    },
    "rewrite",
  ),
  logCase(
    "an altered header is found out",
    async (scene) => {
      await grow(await scene.create(), ...bodies(3));
      check(scene.storage.damageHeader !== undefined, "the storage can damage a header");
      await scene.storage.damageHeader("a");
      const error = await checkRefused("LogCorrupt", "opening and reading", async () =>
        (await scene.openAgain()).read(),
      );
      check(
        error.seq === 0 || error.seq === 1,
        "the error names the header, or the record that follows from it",
      );
    },
    "damageHeader",
  ),
  logCase(
    "(L02) what a newer Moora wrote is refused as such, for reading and for writing",
    async (scene) => {
      await grow(await scene.create(), ...bodies(3));
      check(scene.storage.raiseFormat !== undefined, "the storage can raise its format");
      await scene.storage.raiseFormat("a");
      const open = async (): Promise<unknown> => (await scene.storage.reopen()).open("a");
      await checkRefused("UnsupportedVersion", "opening", open);
      await checkRefused("UnsupportedVersion", "opening again", open);
    },
    "raiseFormat",
  ),
];

/**
 * Inspecting shows what is sound before the damage, and names it. A store that keeps a batch as one piece shows none of
 * the damaged batch.
 */
async function checkInspection(
  scene: Scene,
  records: readonly LogRecord[],
  atLeast: number,
  seq: number,
): Promise<void> {
  const { records: found, damage, unfinishedBytes } = await (await scene.openAgain()).inspect();
  check(
    found.length >= atLeast && found.length < seq,
    "the records before the damage are shown, and no other",
  );
  checkEqual(found, records.slice(0, found.length), "the records before the damage");
  checkEqual([damage?.code, damage?.seq], ["LogCorrupt", seq], "the damage");
  checkEqual(unfinishedBytes, 0, "the length of an unfinished append");
}

/** A store may find out when it opens the session or when it reads; `seq` is the first record that is not as it was. */
async function checkCorrupt(scene: Scene, seq: number): Promise<void> {
  const error = await checkRefused("LogCorrupt", "opening and reading", async () =>
    (await scene.openAgain()).read(),
  );
  checkEqual(error.seq, seq, "the record that the error names");
}
