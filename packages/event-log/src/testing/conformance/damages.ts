import type { LogRecord } from "../../port.ts";
import { bodies, appendBodies, appendOneByOne } from "../chain-of.ts";
import { check, checkEqual, checkRejected } from "../expectations.ts";
import type { Ability, LogCase } from "../log-storage.ts";
import { logCase, type Scene } from "../scene.ts";

type Edit = (records: readonly LogRecord[], other: readonly LogRecord[]) => readonly LogRecord[];

const renumber = (records: readonly LogRecord[]): readonly LogRecord[] =>
  records.map((record, index) => ({ ...record, seq: index + 1 }));

const editAt =
  (seq: number, change: (record: LogRecord) => Partial<LogRecord>): Edit =>
  (records) =>
    records.map((record) => (record.seq === seq ? { ...record, ...change(record) } : record));

/** Flips one bit of one character and keeps the length of the text. */
const flipBit = (text: string, index: number): string =>
  text.slice(0, index) + String.fromCharCode(text.charCodeAt(index) ^ 1) + text.slice(index + 1);

const copyRecord = (records: readonly LogRecord[], from: number, to: number): LogRecord[] => {
  const record = records[from];
  check(record !== undefined, "the record exists");
  return records.toSpliced(to, 0, record);
};

/** Edits of twenty records: a description, the first record that is damaged by it, and the edit. */
const damages: readonly (readonly [string, number, Edit])[] = [
  ["a body was altered", 7, editAt(7, ({ body }) => ({ body: flipBit(body, 9) }))],
  ["the first body was altered", 1, editAt(1, ({ body }) => ({ body: flipBit(body, 9) }))],
  ["the last body was altered", 20, editAt(20, ({ body }) => ({ body: flipBit(body, 9) }))],
  ["a body was emptied", 12, editAt(12, () => ({ body: "" }))],
  ["a digest was altered", 7, editAt(7, ({ digest }) => ({ digest: flipBit(digest, 4) }))],
  ["the first digest was altered", 1, editAt(1, ({ digest }) => ({ digest: flipBit(digest, 4) }))],
  [
    "a body and its changes digest were exchanged",
    9,
    editAt(9, ({ body, changesDigest }) => ({ body: changesDigest, changesDigest: body })),
  ],
  [
    "(B05) two records were swapped",
    5,
    (records) => renumber(records.with(4, at(records, 10)).with(10, at(records, 4))),
  ],
  [
    "(B05) neighbors were swapped",
    5,
    (records) => renumber(records.with(4, at(records, 5)).with(5, at(records, 4))),
  ],
  ["(B05) a record was copied to a later position", 12, (records) => renumber(copyRecord(records, 3, 11))],
  ["(B05) a record was duplicated", 5, (records) => renumber(copyRecord(records, 3, 4))],
  ["(B05) a record was replaced with another", 9, (records) => renumber(records.with(8, at(records, 2)))],
  ["(B05) the first record was deleted", 1, (records) => renumber(records.slice(1))],
  ["(B05) a record was deleted", 8, (records) => renumber(records.toSpliced(7, 1))],
  ["(B05) a record was deleted and left a gap", 8, (records) => records.toSpliced(7, 1)],
  ["(B05) many records were deleted", 3, (records) => renumber(records.toSpliced(2, 15))],
  [
    "(B05) a record of another session was inserted",
    6,
    (records, other) => renumber(records.toSpliced(5, 0, at(other, 5))),
  ],
  [
    "(B05) a record was replaced with one of another session",
    6,
    (records, other) => records.with(5, at(other, 5)),
  ],
  [
    "(B05) the last records are of another session",
    11,
    (records, other) => [...records.slice(0, 10), ...other.slice(10)],
  ],
  ["(B05) all records are of another session", 1, (_records, other) => other],
];

function at(records: readonly LogRecord[], index: number): LogRecord {
  const record = records[index];
  check(record !== undefined, "the record exists");
  return record;
}

const damageCase = (how: string, isBatch: boolean, [what, seq, edit]: (typeof damages)[number]): LogCase =>
  logCase(
    `finds that ${what}, among records appended ${how}`,
    async (scene) => {
      const [session, other] = [await scene.create("a", '{"of":"a"}'), await scene.create("b", '{"of":"b"}')];
      const records = await (isBatch ? appendBodies : appendOneByOne)(session, ...bodies(20, "a"));
      const others = await appendOneByOne(other, ...bodies(20, "b"));
      await scene.rewrite("a", (stored) => edit(stored, others));
      await checkCorrupt(scene, seq);
      await checkInspection(scene, records, isBatch ? 0 : seq - 1, seq);
      checkEqual(await (await scene.openAgain("b")).read(), others, "the other session is undamaged");
    },
    "rewrite",
  );

const removalCase = (needs: Ability, what: string, damage: (scene: Scene) => Promise<void>): LogCase =>
  logCase(
    `removes a session whose ${what} were damaged, and its id can be created again`,
    async (scene) => {
      await appendOneByOne(await scene.create(), ...bodies(9));
      await damage(scene);
      const log = await scene.storage.reopen();
      check(await log.remove("a"), "removing it returns true");
      checkEqual(await log.list(), [], "the sessions that are left");
      checkEqual(await log.open("a"), undefined, "the removed session");
      checkEqual(await (await log.create("a", "{}")).read(), [], "the records of the new session");
    },
    needs,
  );

export const damageCases: readonly LogCase[] = [
  ...damages.map((damage) => damageCase("singly", false, damage)),
  ...damages.map((damage) => damageCase("as a batch", true, damage)),
  logCase(
    "damage is neither appended to nor repaired",
    async (scene) => {
      await appendOneByOne(await scene.create(), ...bodies(9));
      const alter = editAt(4, () => ({ body: '{"altered":true}' }));
      await scene.rewrite("a", (records) => alter(records, []));
      await checkCorrupt(scene, 4);
      await checkCorrupt(scene, 4);
    },
    "rewrite",
  ),
  logCase(
    "finds a gap also when reading starts after it",
    async (scene) => {
      await appendOneByOne(await scene.create(), ...bodies(20));
      await scene.rewrite("a", (records) => records.toSpliced(7, 1));
      for (const after of [7, 8]) {
        await checkRejected("LogCorrupt", `opening, and reading after ${after}`, async () =>
          (await scene.openAgain()).read(after),
        );
      }
    },
    "rewrite",
  ),
  logCase(
    "finds an altered header",
    async (scene) => {
      await appendBodies(await scene.create(), ...bodies(3));
      check(scene.storage.damageHeader !== undefined, "the storage can damage a header");
      await scene.storage.damageHeader("a");
      const error = await checkRejected("LogCorrupt", "opening and reading", async () =>
        (await scene.openAgain()).read(),
      );
      check(
        error.seq === 0 || error.seq === 1,
        "the error names the header, or the record that follows from it",
      );
    },
    "damageHeader",
  ),
  removalCase("rewrite", "records", (scene) => scene.rewrite("a", (records) => records.toSpliced(2, 1))),
  removalCase("damageHeader", "header", async ({ storage }) => await storage.damageHeader?.("a")),
  logCase(
    "(L02) rejects a newer format with UnsupportedVersion",
    async (scene) => {
      await appendBodies(await scene.create(), ...bodies(3));
      check(scene.storage.raiseFormat !== undefined, "the storage can raise its format");
      await scene.storage.raiseFormat("a");
      const open = async (): Promise<unknown> => (await scene.storage.reopen()).open("a");
      await checkRejected("UnsupportedVersion", "opening", open);
      await checkRejected("UnsupportedVersion", "opening again", open);
    },
    "raiseFormat",
  ),
];

/**
 * `inspect` returns the records before the damage, and the damage. A store that reads batches as a whole returns no record of
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
    "the records before the damage are returned, and no others",
  );
  checkEqual(found, records.slice(0, found.length), "the records before the damage");
  checkEqual([damage?.code, damage?.seq], ["LogCorrupt", seq], "the damage");
  checkEqual(unfinishedBytes, 0, "the length of an unfinished append");
}

/** A store may find the damage when it opens the session or when it reads; `seq` is the first damaged record. */
async function checkCorrupt(scene: Scene, seq: number): Promise<void> {
  const error = await checkRejected("LogCorrupt", "opening and reading", async () =>
    (await scene.openAgain()).read(),
  );
  checkEqual(error.seq, seq, "the record that the error names");
}
