import { bodies, appendBodies, headOf, recordsAfter, snapshotOf } from "../chain-of.ts";
import { check, checkEqual, checkRejected } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

const strangeHeaders: readonly (readonly [string, string])[] = [
  ["an empty object", "{}"],
  ["insignificant white space", ' {\t"a" : 1 } '],
  ["line breaks", '{\n  "a": 1\r\n}'],
  ["escaped and raw NUL", '{"a":"\\u0000\0"}'],
  ["a member __proto__", '{"__proto__":{"polluted":true}}'],
  ["U+2028 and characters of four bytes", '{"a":"\u2028\u{1F600}\uFFFD"}'],
  ["text that looks like the end of a line of the log", '{},"digest":"AAAAAAAAAAAAAAAAAAAAAA"}'],
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
      checkEqual(
        await appendBodies(session, "{}"),
        await session.read(),
        "the first record continues its chain",
      );
    }),
  ),
  logCase("rejects a header that is not well-formed", async ({ log }) => {
    await checkRejected("InvalidRecord", "create", () => log.create("a", '"\uD800"'));
    checkEqual(await log.open("a"), undefined, "the session");
  }),
  logCase("rejects the creation of an id that is in use, and changes nothing", async (scene) => {
    const records = await appendBodies(await scene.create("a", '{"header":1}'), '{"a":1}');
    const other = await scene.storage.open();
    await checkRejected("LogExists", "create in the same log", () => scene.log.create("a", '{"header":2}'));
    await checkRejected("LogExists", "create in another log", () => other.create("a", '{"header":2}'));
    const session = await scene.open();
    checkEqual(session.header, '{"header":1}', "the header");
    checkEqual(await session.read(), records, "the records");
  }),
  logCase("of concurrent creations of an id, one succeeds", async (scene) => {
    const logs = [scene.log, await scene.storage.open(), await scene.storage.open()];
    const outcomes = await Promise.allSettled(
      logs.map(async (log, index) => log.create("a", JSON.stringify({ index }))),
    );
    const winner = outcomes.findIndex(({ status }) => status === "fulfilled");
    checkEqual(
      outcomes.filter(({ status }) => status === "fulfilled").length,
      1,
      "how many creations succeed",
    );
    checkEqual((await scene.open()).header, JSON.stringify({ index: winner }), "the header of the winner");
  }),
  logCase("opening an unknown id returns undefined", async ({ log }) => {
    checkEqual(await log.open("a"), undefined, "open");
    checkEqual(await log.list(), [], "the list");
  }),
  logCase("removing returns whether there was a session", async (scene) => {
    await scene.create();
    check(!(await scene.log.remove("b")), "removing an unknown id returns false");
    check(await scene.log.remove("a"), "removing a session returns true");
    check(!(await scene.log.remove("a")), "removing it again returns false");
  }),
  logCase("a removed session cannot be opened and is not listed, also after a crash", async (scene) => {
    await appendBodies(await scene.create(), "{}");
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
    await appendBodies(session, '{"a":1}');
    const elsewhere = await scene.openElsewhere();
    const late = recordsAfter(await headOf(session), '{"late":true}');
    await scene.log.remove("a");
    await checkRejected("LogRemoved", "append here", () => session.append(1, late));
    await checkRejected("LogRemoved", "append in another process", () => elsewhere.append(1, late));
    checkEqual(await scene.log.open("a"), undefined, "the session after the append");
  }),
  logCase(
    "(D08) a session created again under a removed id is a new one, which old handles cannot access",
    async (scene) => {
      const old = await scene.create("a", '{"generation":1}');
      await appendBodies(old, '{"a":1}');
      await old.lease({ owner: "old", now: 0, ttlMs: 1_000_000 });
      await old.saveSnapshot(snapshotOf(1));
      await scene.log.remove("a");
      const session = await scene.create("a", '{"generation":2}');
      checkEqual(await session.head(), 0, "its head");
      checkEqual(session.header, '{"generation":2}', "its header");
      checkEqual(await session.snapshot(), undefined, "its snapshot");
      const lease = await session.lease({ owner: "new", now: 1, ttlMs: 10 });
      checkEqual(lease.owner, "new", "the owner of its lease");
      const [record] = recordsAfter({ seq: 0, digest: (await headOf(session)).digest }, "{}");
      check(record !== undefined, "there is a record to append");
      await checkRejected("LogRemoved", "append by the old handle", () => old.append(0, [record]));
      checkEqual(await appendBodies(session, '{"b":1}'), await session.read(), "its records");
    },
  ),
  ...removedMethods.map((method) =>
    logCase(`a handle of a removed session rejects ${method}`, async (scene) => {
      const session = await scene.create();
      await appendBodies(session, "{}");
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
      await checkRejected("LogRemoved", method, calls[method]);
    }),
  ),
  logCase("releasing the lease of a removed session does nothing", async (scene) => {
    const session = await scene.create();
    await session.lease({ owner: "x", now: 0, ttlMs: 1_000 });
    await scene.log.remove("a");
    await session.release("x");
    checkEqual(await scene.log.open("a"), undefined, "the session");
  }),
  logCase("an id can be created and removed repeatedly", async (scene) => {
    for (const generation of bodies(5)) {
      const session = await scene.create("a", generation);
      checkEqual(
        await appendBodies(session, "{}", "[]"),
        await session.read(),
        "the records of this generation",
      );
      await scene.log.remove("a");
    }
    checkEqual(await scene.log.list(), [], "the list");
  }),
  logCase(
    "the list contains the head and header of each session, also after appends of another process",
    async (scene) => {
      for (const id of ["a", "b", "c"]) await scene.create(id, JSON.stringify({ id }));
      await appendBodies(await scene.openElsewhere("b"), ...bodies(3));
      await appendBodies(await scene.open("c"), "{}");
      const expected = [
        { id: "a", head: 0, header: '{"id":"a"}' },
        { id: "b", head: 3, header: '{"id":"b"}' },
        { id: "c", head: 1, header: '{"id":"c"}' },
      ];
      checkEqual(await scene.log.list(), expected, "the list");
      checkEqual(await (await scene.storage.reopen()).list(), expected, "the list after a crash");
    },
  ),
];
