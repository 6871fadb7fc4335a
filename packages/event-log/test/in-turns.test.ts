import { turnsOf } from "@moora/testbed/turns-of";
import { TemporaryDirectory } from "@moora/testbed/stores";
import { describe, expect, it } from "vitest";
import { chainStart, memoryLog, type EventLog, type SessionLog } from "../src/index.ts";
import { jsonlLog } from "../src/jsonl.ts";
import { sqliteLog } from "../src/sqlite.ts";
import { appendBodies, bodies, snapshotOf } from "../src/testing/index.ts";

const count = 4_200;
/** One after each thousand records. */
const turns = 4;

const logs: Readonly<Record<string, (directory: TemporaryDirectory) => EventLog>> = {
  memory: () => memoryLog(),
  SQLite: (directory) => sqliteLog(directory.file("log.db")),
  JSONL: (directory) => jsonlLog(directory.path),
};

const works: Readonly<Record<string, (session: SessionLog) => unknown>> = {
  inspected: (session) => session.inspect(),
  "checked up to a record": (session) => session.checkUpTo(count),
};

describe.each(Object.keys(logs))(
  "the event loop has turns while a long session in a log of %s is",
  (name) => {
    it.each(Object.keys(works))("%s", async (what) => {
      using directory = new TemporaryDirectory();
      const log = logs[name]?.(directory) ?? memoryLog();
      await appendBodies(await log.create("a", "{}"), ...bodies(count));
      const session = await log.open("a");
      if (session === undefined) throw new Error("The session is missing.");
      expect(await turnsOf(Promise.resolve(works[what]?.(session)))).toBeGreaterThanOrEqual(turns);
      await log.close();
    });
  },
);

describe.each(["SQLite"])("the event loop has turns while a log of %s", (name) => {
  it("saves a snapshot with the checksum of a long session, and checks that later", async () => {
    using directory = new TemporaryDirectory();
    const log = logs[name]?.(directory) ?? memoryLog();
    await appendBodies(await log.create("a", "{}"), ...bodies(count));
    const saving = await log.open("a");
    expect(await turnsOf(Promise.resolve(saving?.saveSnapshot(snapshotOf(count))))).toBeGreaterThanOrEqual(
      turns,
    );
    await log.close();
    const again = logs[name]?.(directory) ?? memoryLog();
    const session = await again.open("a");
    await expect(session?.checkUpTo(count)).resolves.toBeUndefined();
    await expect(session?.checkUpTo(count + 1)).rejects.toMatchObject({ code: "LogCorrupt", seq: count + 1 });
    expect(await session?.inspect()).toMatchObject({ damage: undefined, unfinishedBytes: 0 });
    await again.close();
  });
});

describe("a session whose stored head was moved to before its last records", () => {
  it("is damaged, also where a read in parts ends at that head", async () => {
    using directory = new TemporaryDirectory();
    const log = sqliteLog(directory.file("log.db"));
    const session = await log.create("a", "{}");
    await appendBodies(session, ...bodies(3));
    const database = new (await import("node:sqlite")).DatabaseSync(directory.file("log.db"));
    database.prepare("UPDATE moora_sessions SET head = 0, digest = ?").run(chainStart("{}").digest);
    database.close();
    const damage = expect.objectContaining({ code: "LogCorrupt", seq: 1 });
    expect(await (await log.open("a"))?.inspect()).toEqual({ records: [], damage, unfinishedBytes: 0 });
    await log.close();
  });
});
