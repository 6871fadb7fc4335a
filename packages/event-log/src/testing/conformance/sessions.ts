import { bodies, grow, headOf, recordsAfter, snapshotOf } from "../chain-of.ts";
import { check, checkEqual, checkRefused } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

const strangeHeaders: readonly (readonly [string, string])[] = [
  ["an empty object", "{}"],
  ["white space that JSON does not need", ' {\t"a" : 1 } '],
  ["line breaks", '{\n  "a": 1\r\n}'],
  ["escaped and raw NUL", '{"a":"\\u0000\0"}'],
  ["a member __proto__", '{"__proto__":{"polluted":true}}'],
  ["U+2028 and characters of four bytes", '{"a":"\u2028\u{1F600}\uFFFD"}'],
  ["what looks like the end of a line of the log", '{},"digest":"AAAAAAAAAAAAAAAAAAAAAA"}'],
  ["one million characters", JSON.stringify("h".repeat(1_000_000))],
];

const removedMethods = [
  "read",
  "inspect",
  "checkUpTo",
  "head",
  "lease",
  "currentLease",
  "snapshot",
  "saveSnapshot",
] as const;

export const sessionCases: readonly LogCase[] = [
  logCase("a new session has no records", async (scene) => {
    const session = await scene.create();
    checkEqual(await session.head(), 0, "its head");
    checkEqual(await session.read(), [], "its records");
    checkEqual(session.id, "a", "its id");
  }),
  ...strangeHeaders.map(([what, header]) =>
    logCase(`keeps a header with ${what}`, async (scene) => {
      checkEqual((await scene.create("a", header)).header, header, "the header of the new handle");
      const session = await scene.openAgain();
      checkEqual(session.header, header, "the header after a crash");
      checkEqual((await scene.log.list())[0]?.header, header, "the header in the list");
      checkEqual(await grow(session, "{}"), await session.read(), "the first record follows from it");
    }),
  ),
  logCase("refuses a header that is not well-formed", async ({ log }) => {
    await checkRefused("InvalidRecord", "create", () => log.create("a", '"\uD800"'));
    checkEqual(await log.open("a"), undefined, "nothing was made");
  }),
  logCase("creating an id that is taken is refused and changes nothing", async (scene) => {
    const records = await grow(await scene.create("a", '{"header":1}'), '{"a":1}');
    const other = await scene.storage.open();
    await checkRefused("LogExists", "create in the same log", () => scene.log.create("a", '{"header":2}'));
    await checkRefused("LogExists", "create in another log", () => other.create("a", '{"header":2}'));
    const session = await scene.open();
    checkEqual(session.header, '{"header":1}', "the header");
    checkEqual(await session.read(), records, "the records");
  }),
  logCase("of two that create an id at once, one succeeds", async (scene) => {
    const logs = [scene.log, await scene.storage.open(), await scene.storage.open()];
    const outcomes = await Promise.allSettled(
      logs.map(async (log, index) => log.create("a", JSON.stringify({ index }))),
    );
    const winner = outcomes.findIndex(({ status }) => status === "fulfilled");
    checkEqual(outcomes.filter(({ status }) => status === "fulfilled").length, 1, "how many succeed");
    checkEqual((await scene.open()).header, JSON.stringify({ index: winner }), "whose header it is");
  }),
  logCase("opening an id that nobody created answers undefined", async ({ log }) => {
    checkEqual(await log.open("a"), undefined, "open");
    checkEqual(await log.list(), [], "the list");
  }),
  logCase("removing answers whether there was a session", async (scene) => {
    await scene.create();
    check(!(await scene.log.remove("b")), "there is no b");
    check(await scene.log.remove("a"), "there is an a");
    check(!(await scene.log.remove("a")), "there is no a any more");
  }),
  logCase("a removed session cannot be opened and is not listed, also after a crash", async (scene) => {
    await grow(await scene.create(), "{}");
    await scene.create("b");
    await scene.log.remove("a");
    for (const log of [scene.log, await scene.storage.open(), await scene.storage.reopen()]) {
      checkEqual(await log.open("a"), undefined, "open");
      checkEqual(
        (await log.list()).map((info) => info.id),
        ["b"],
        "the list",
      );
    }
  }),
  logCase("(D08) a handle of a removed session cannot append", async (scene) => {
    const session = await scene.create();
    await grow(session, '{"a":1}');
    const elsewhere = await scene.openElsewhere();
    const late = recordsAfter(await headOf(session), '{"late":true}');
    await scene.log.remove("a");
    await checkRefused("LogRemoved", "append here", () => session.append(1, late));
    await checkRefused("LogRemoved", "append elsewhere", () => elsewhere.append(1, late));
    checkEqual(await scene.log.open("a"), undefined, "nothing came back");
  }),
  logCase(
    "(D08) a session made again under a removed id is another one, out of reach of old handles",
    async (scene) => {
      const old = await scene.create("a", '{"life":1}');
      await grow(old, '{"a":1}');
      await old.lease({ owner: "old", now: 0, ttlMs: 1_000_000 });
      await old.saveSnapshot(snapshotOf(1));
      await scene.log.remove("a");
      const session = await scene.create("a", '{"life":2}');
      checkEqual(await session.head(), 0, "its head");
      checkEqual(session.header, '{"life":2}', "its header");
      checkEqual(await session.snapshot(), undefined, "it has no snapshot");
      const lease = await session.lease({ owner: "new", now: 1, ttlMs: 10 });
      checkEqual(lease.owner, "new", "its lease was free");
      const [record] = recordsAfter({ seq: 0, digest: (await headOf(session)).digest }, "{}");
      check(record !== undefined, "there is a record to append");
      await checkRefused("LogRemoved", "append by the old handle", () => old.append(0, [record]));
      checkEqual(await grow(session, '{"b":1}'), await session.read(), "it counts from 1");
    },
  ),
  ...removedMethods.map((method) =>
    logCase(`a handle of a removed session refuses ${method}`, async (scene) => {
      const session = await scene.create();
      await grow(session, "{}");
      await scene.log.remove("a");
      const calls = {
        read: () => session.read(),
        inspect: () => session.inspect(),
        checkUpTo: () => session.checkUpTo(1),
        head: () => session.head(),
        lease: () => session.lease({ owner: "x", now: 0, ttlMs: 1 }),
        currentLease: () => session.currentLease(),
        snapshot: () => session.snapshot(),
        saveSnapshot: () => session.saveSnapshot(snapshotOf(1)),
      };
      await checkRefused("LogRemoved", method, calls[method]);
    }),
  ),
  logCase("letting go of the lease of a removed session is harmless", async (scene) => {
    const session = await scene.create();
    await session.lease({ owner: "x", now: 0, ttlMs: 1_000 });
    await scene.log.remove("a");
    await session.release("x");
    checkEqual(await scene.log.open("a"), undefined, "it stays removed");
  }),
  logCase("an id can be created and removed again and again", async (scene) => {
    for (const life of bodies(5)) {
      const session = await scene.create("a", life);
      checkEqual(await grow(session, "{}", "[]"), await session.read(), "the records of this life");
      await scene.log.remove("a");
    }
    checkEqual(await scene.log.list(), [], "the list");
  }),
  logCase("the list tells head and header of each session, whoever appended", async (scene) => {
    for (const id of ["a", "b", "c"]) await scene.create(id, JSON.stringify({ id }));
    await grow(await scene.openElsewhere("b"), ...bodies(3));
    await grow(await scene.open("c"), "{}");
    const expected = [
      { id: "a", head: 0, header: '{"id":"a"}' },
      { id: "b", head: 3, header: '{"id":"b"}' },
      { id: "c", head: 1, header: '{"id":"c"}' },
    ];
    checkEqual(await scene.log.list(), expected, "the list");
    checkEqual(await (await scene.storage.reopen()).list(), expected, "the list after a crash");
  }),
];
