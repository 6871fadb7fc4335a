import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { chainStart, type EventLog } from "../src/index.ts";
import { sqliteLog } from "../src/sqlite.ts";
import { bodies, appendBodies, recordsAfter } from "../src/testing/index.ts";
import { TemporaryDirectory } from "@moora/testbed/stores";

/** A holder that keeps the session "a" of a log locked until it is released. */
interface Holder {
  release(): Promise<void>;
}

interface LockedStore {
  readonly name: string;
  readonly open: (temporary: TemporaryDirectory, busyTimeoutMs: number) => EventLog;
  readonly hold: (temporary: TemporaryDirectory) => Promise<Holder>;
}

const lockedStores: readonly LockedStore[] = [
  {
    name: "sqlite",
    open: (temporary, busyTimeoutMs) => sqliteLog(temporary.file("log.db"), { busyTimeoutMs }),
    async hold(temporary) {
      const database = new DatabaseSync(temporary.file("log.db"));
      database.exec("BEGIN IMMEDIATE");
      return {
        async release() {
          database.exec("COMMIT");
          database.close();
        },
      };
    },
  },
];

const [first, second] = recordsAfter(chainStart("{}"), ...bodies(2));
const one = first === undefined ? [] : [first];
const two = second === undefined ? [] : [second];
const busy = expect.objectContaining({ code: "LogBusy" });

describe.each(lockedStores)("(B10) while another process keeps a $name log locked", ({ open, hold }) => {
  it("for longer than the timeout, an append fails with LogBusy and writes nothing", async () => {
    using temporary = new TemporaryDirectory();
    const log = open(temporary, 30);
    const session = await log.create("a", "{}");
    const records = await appendBodies(session, "{}");
    const holder = await hold(temporary);
    const next = recordsAfter(records.at(-1) ?? chainStart("{}"), "[]");
    const outcomes = await Promise.allSettled([
      (async () => session.append(1, next))(),
      (async () => session.lease({ owner: "x", now: 0, ttlMs: 1 }))(),
      (async () => log.remove("a"))(),
    ]);
    expect(outcomes).toEqual(outcomes.map(() => ({ status: "rejected", reason: busy })));
    await holder.release();
    expect(await session.inspect()).toEqual({ records, damage: undefined, unfinishedBytes: 0 });
    expect(await session.currentLease()).toBeUndefined();
    await log.close();
  });

  it("for less than the timeout, an append waits without blocking the event loop", async () => {
    using temporary = new TemporaryDirectory();
    const log = open(temporary, 60_000);
    const session = await log.create("a", "{}");
    const holder = await hold(temporary);
    // If the wait blocked the event loop, the holder would never be released.
    const appended = session.append(0, one);
    await setImmediate();
    await holder.release();
    await appended;
    expect(await session.read()).toEqual(one);
    await log.close();
  });

  it("appends of one handle keep their order, also those made after the release", async () => {
    using temporary = new TemporaryDirectory();
    const log = open(temporary, 60_000);
    const session = await log.create("a", "{}");
    const holder = await hold(temporary);
    const waiting = session.append(0, one);
    await holder.release();
    await Promise.all([waiting, session.append(1, two)]);
    expect(await session.read()).toEqual([...one, ...two]);
    await log.close();
  });

  it("with a timeout of 0, an append throws LogBusy synchronously", async () => {
    using temporary = new TemporaryDirectory();
    const log = open(temporary, 0);
    const session = await log.create("a", "{}");
    const holder = await hold(temporary);
    expect(() => session.append(0, one)).toThrow(busy);
    await holder.release();
    await log.close();
  });

  it("closing the log ends the wait", async () => {
    using temporary = new TemporaryDirectory();
    const log = open(temporary, 60_000);
    const session = await log.create("a", "{}");
    const holder = await hold(temporary);
    const append = Promise.allSettled([(async () => session.append(0, one))()]);
    await log.close();
    expect(await append).toMatchObject([{ status: "rejected", reason: { code: "LogWrite" } }]);
    await holder.release();
  });

  it("a reader that has read all records does not wait", async () => {
    using temporary = new TemporaryDirectory();
    const log = open(temporary, 0);
    const session = await log.create("a", "{}");
    await session.append(0, one);
    const holder = await hold(temporary);
    expect(await session.head()).toBe(1);
    expect(await session.read()).toEqual(one);
    await holder.release();
    await log.close();
  });
});

describe("without another process", () => {
  it.each(lockedStores)(
    "every call of a $name log that does not read all records returns a value, not a promise",
    ({ open }) => {
      using temporary = new TemporaryDirectory();
      const log = open(temporary, 60_000);
      const session = log.create("a", "{}");
      if (session instanceof Promise) throw new Error("The session should be there at once.");
      const results = [
        session.append(0, one),
        session.read(),
        session.head(),
        session.lease({ owner: "x", now: 0, ttlMs: 1 }),
        session.currentLease(),
        session.release("x"),
        session.snapshot(),
        log.open("a"),
        log.list(),
        log.remove("a"),
      ];
      expect(results.filter((result) => result instanceof Promise)).toEqual([]);
      void log.close();
    },
  );
});

describe("a SQLite database that is locked while the log is opened", () => {
  it("is opened by the first call", async () => {
    using temporary = new TemporaryDirectory();
    const holder = new DatabaseSync(temporary.file("log.db"));
    holder.exec("BEGIN EXCLUSIVE");
    const log = sqliteLog(temporary.file("log.db"), { busyTimeoutMs: 60_000 });
    const created = log.create("a", "{}");
    await setImmediate();
    holder.exec("COMMIT");
    holder.close();
    const session = await created;
    await session.append(0, one);
    expect(await session.read()).toEqual(one);
    await log.close();
  });
});
