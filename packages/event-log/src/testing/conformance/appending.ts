import { digestOf } from "../../digest.ts";
import { maxRecordLength } from "../../validation.ts";
import { bodies, appendBodies, appendOneByOne, headOf, recordsAfter, recordsOf } from "../chain-of.ts";
import { check, checkEqual, checkRejected } from "../expectations.ts";
import type { LogRecord, SessionLog } from "../../port.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase, type Scene } from "../scene.ts";

const wrongHeads: readonly (readonly [string, number])[] = [
  ["is one too low", 2],
  ["is the beginning", 0],
  ["is one too high", 4],
  ["is far too high", 1_000_000],
  ["is negative", -1],
  ["is NaN", Number.NaN],
  ["is infinite", Infinity],
  ["is between two numbers", 2.5],
];

async function createWithThree(
  scene: Scene,
): Promise<{ session: SessionLog; records: readonly LogRecord[] }> {
  const session = await scene.create();
  return { session, records: await appendBodies(session, ...bodies(3)) };
}

/** Appends invalid records. Nothing may be appended, and the next append must succeed. */
async function checkInvalid(scene: Scene, alter: (records: LogRecord[]) => void): Promise<void> {
  const { session, records } = await createWithThree(scene);
  const batch = [...recordsAfter(await headOf(session), ...bodies(3, "more"))];
  alter(batch);
  await checkRejected("InvalidRecord", "append", () => session.append(3, batch));
  checkEqual(await session.read(), records, "no record of the batch was appended");
  checkEqual(
    [...records, ...(await appendBodies(session, "{}"))],
    await session.read(),
    "the next append succeeds",
  );
}

const replaceRecord = (records: LogRecord[], index: number, change: Partial<LogRecord>): void => {
  const record = records[index];
  check(record !== undefined, "the record exists");
  records[index] = { ...record, ...change };
};

export const appendingCases: readonly LogCase[] = [
  logCase("an append adds its records once", async (scene) => {
    const session = await scene.create();
    const records = await appendBodies(session, '{"a":1}');
    checkEqual(await session.read(), records, "the records");
    checkEqual(await session.head(), 1, "the head");
  }),
  logCase("a batch is appended whole", async (scene) => {
    const session = await scene.create();
    const records = await appendBodies(session, ...bodies(7));
    checkEqual(await session.head(), 7, "the head");
    checkEqual(await session.read(), records, "the records");
  }),
  logCase("(A10) records appended singly and as a batch make the same log", async (scene) => {
    const [one, other] = [await scene.create("one"), await scene.create("other")];
    await appendOneByOne(one, ...bodies(5));
    await appendBodies(other, ...bodies(5));
    checkEqual(await one.read(), await other.read(), "the records");
  }),
  logCase("batches and single records follow one another without a gap", async (scene) => {
    const session = await scene.create();
    for (const size of [1, 3, 1, 1, 10, 2]) await appendBodies(session, ...bodies(size));
    const seqs = (await session.read()).map(({ seq }) => seq);
    checkEqual(
      seqs,
      Array.from({ length: 18 }, (_, index) => index + 1),
      "the sequence numbers",
    );
  }),
  logCase("accepts a batch of 1,000 records", async (scene) => {
    const session = await scene.create();
    const records = await appendBodies(session, ...bodies(1_000));
    checkEqual(await (await scene.openAgain()).read(), records, "the records after a crash");
  }),
  ...wrongHeads.map(([what, expectedSeq]) =>
    logCase(`rejects an append whose expected head ${what}`, async (scene) => {
      const { session, records } = await createWithThree(scene);
      const batch = recordsAfter({ ...(await headOf(session)), seq: expectedSeq }, "{}");
      const error = await checkRejected("Conflict", "append", () => session.append(expectedSeq, batch));
      checkEqual(error.seq, 3, "the error names the head");
      checkEqual(await session.read(), records, "nothing was appended");
    }),
  ),
  logCase("rejects the same append a second time", async (scene) => {
    const session = await scene.create();
    const records = await appendBodies(session, "{}");
    await checkRejected("Conflict", "append", () => session.append(0, records));
    checkEqual(await session.read(), records, "the records");
  }),
  logCase("an empty append at the head does nothing, and elsewhere is rejected", async (scene) => {
    const { session, records } = await createWithThree(scene);
    await session.append(3, []);
    await checkRejected("Conflict", "an empty append", () => session.append(2, []));
    checkEqual(await session.read(), records, "the records");
  }),
  logCase("the next append succeeds after a rejected one", async (scene) => {
    const { session, records } = await createWithThree(scene);
    await checkRejected("Conflict", "append", () =>
      session.append(1, recordsAfter({ seq: 1, digest: "" }, "{}")),
    );
    checkEqual(
      [...records, ...(await appendBodies(session, '{"next":1}'))],
      await session.read(),
      "the records",
    );
  }),
  logCase("a batch with a bad record appends nothing", (scene) =>
    checkInvalid(scene, (records) => replaceRecord(records, 2, { digest: "AAAAAAAAAAAAAAAAAAAAAA" })),
  ),
  logCase("rejects a record whose digest does not continue the chain", (scene) =>
    checkInvalid(scene, (records) => replaceRecord(records, 0, { digest: "AAAAAAAAAAAAAAAAAAAAAA" })),
  ),
  logCase("rejects a record whose body does not match its digest", (scene) =>
    checkInvalid(scene, (records) => replaceRecord(records, 1, { body: '{"other":true}' })),
  ),
  logCase("keeps a record of format 1, whose digest covers its changes digest", async (scene) => {
    const session = await scene.create();
    const head = await headOf(session);
    const record = { seq: 1, body: "{}", changesDigest: "c", digest: digestOf(head.digest, "{}", "c") };
    await session.append(0, [record]);
    const [next] = await appendBodies(session, "[]");
    checkEqual(await (await scene.openAgain()).read(), [record, next], "the records");
  }),
  logCase("rejects a batch with a gap in its numbers", (scene) =>
    checkInvalid(scene, (records) => void records.splice(1, 1)),
  ),
  logCase("rejects a batch with a repeated number", (scene) =>
    checkInvalid(scene, (records) => replaceRecord(records, 1, { seq: 4 })),
  ),
  logCase("rejects a batch in the wrong order", (scene) =>
    checkInvalid(scene, (records) => void records.push(...records.splice(0, 2))),
  ),
  logCase("rejects a body that is not well-formed", async (scene) => {
    const { session, records } = await createWithThree(scene);
    const batch = recordsAfter(await headOf(session), '{"a":"\uD83D"}');
    await checkRejected("InvalidRecord", "append", () => session.append(3, batch));
    checkEqual(await session.read(), records, "nothing was appended");
  }),
  logCase(
    "accepts a record of the maximum length, and rejects a longer one with both lengths",
    async (scene) => {
      const session = await scene.create();
      const limit = session.maxRecordLength ?? maxRecordLength;
      const [longest] = recordsAfter(await headOf(session), JSON.stringify("x".repeat(limit - 2)));
      check(longest !== undefined, "there is a record to append");
      const tooLong = { ...longest, body: `${longest.body} ` };
      const error = await checkRejected("InvalidRecord", "append", () => session.append(0, [tooLong]));
      for (const length of [limit, limit + 1])
        check(error.message.includes(String(length)), `the message contains the length ${length}`);

      checkEqual(error.seq, 1, "the record that the error names");
      const [appended] = await Promise.allSettled([(async () => session.append(0, [longest]))()]);
      check(appended.status === "fulfilled", "a record of the maximum length is accepted");
      const [found] = await (await scene.openAgain()).read();
      check(found?.body === longest.body, "the record is read back unchanged");
    },
  ),
  logCase("rejects a changes digest that is longer than 200 characters", async (scene) => {
    const { session, records } = await createWithThree(scene);
    const batch = recordsOf(await headOf(session), ["{}"], () => "c".repeat(201));
    await checkRejected("InvalidRecord", "append", () => session.append(3, batch));
    checkEqual(await session.read(), records, "nothing was appended");
  }),
  ...["", "c".repeat(200), '"\\\n\0\u2028', "\u{1F600}", "__proto__"].map((changesDigest) =>
    logCase(`keeps the changes digest ${JSON.stringify(changesDigest.slice(0, 20))}`, async (scene) => {
      const session = await scene.create();
      const records = recordsOf(await headOf(session), ["{}", "[]"], () => changesDigest);
      await session.append(0, records);
      checkEqual(await (await scene.openAgain()).read(), records, "the records after a crash");
    }),
  ),
  logCase("later changes of the caller to its array do not change the log", async (scene) => {
    const session = await scene.create();
    const [record] = recordsAfter(await headOf(session), '{"a":1}');
    check(record !== undefined, "there is a record to append");
    const mine = [{ ...record }];
    await session.append(0, mine);
    Object.assign(mine[0] ?? {}, { body: '{"a":2}' });
    mine.length = 0;
    checkEqual(await session.read(), [record], "the records");
  }),
];
