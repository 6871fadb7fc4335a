import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { EventLog, LogNotice, LogRecord, SessionLog } from "../src/index.ts";
import { jsonlLog, type JsonlOptions } from "../src/jsonl.ts";
import { sqliteLog } from "../src/sqlite.ts";
import { bodies, appendBodies, appendOneByOne, snapshotOf } from "../src/testing/index.ts";
import { copyDirectory, noNotice, pathOf, TemporaryDirectory } from "@moora/testbed/stores";

/** A session of five records in a folder, closed. */
class Recorded implements Disposable {
  readonly temporary = new TemporaryDirectory();
  readonly path = pathOf(this.temporary.path, "a");
  records: readonly LogRecord[] = [];

  static async with(options: JsonlOptions = {}, last?: (session: SessionLog) => unknown): Promise<Recorded> {
    const recorded = new Recorded();
    const log = jsonlLog(recorded.temporary.path, options);
    const session = await log.create("a", "{}");
    recorded.records = await appendOneByOne(session, ...bodies(5));
    await last?.(session);
    await log.close();
    return recorded;
  }

  open(options: JsonlOptions = {}): EventLog {
    return jsonlLog(this.temporary.path, { onNotice: noNotice, ...options });
  }

  [Symbol.dispose](): void {
    this.temporary[Symbol.dispose]();
  }
}

const corruptAt = (seq: number) => expect.objectContaining({ code: "LogCorrupt", seq });

describe("a file without a complete first line", () => {
  const headerLength = (bytes: Buffer): number => bytes.indexOf(10) + 1;
  it.each<[string, (bytes: Buffer) => Buffer, string]>([
    ["is empty", () => Buffer.alloc(0), "empty"],
    [
      "is a header without its line break",
      (bytes) => bytes.subarray(0, headerLength(bytes) - 1),
      "ends within the first line",
    ],
    [
      "begins with a blank line",
      (bytes) => Buffer.concat([Buffer.from("\n"), bytes]),
      "first line is damaged",
    ],
    ["is one line break", () => Buffer.from("\n"), "first line is damaged"],
  ])("%s: damage to the header, in every call but the list and remove", async (_, change, problem) => {
    using recorded = await Recorded.with();
    const bytes = change(readFileSync(recorded.path));
    writeFileSync(recorded.path, bytes);
    const notices: LogNotice[] = [];
    const log = recorded.open({ onNotice: (notice) => notices.push(notice) });
    expect(() => log.open("a")).toThrow(corruptAt(0));
    expect(() => log.open("a")).toThrow(problem);
    expect(() => log.create("a", "{}")).toThrow(corruptAt(0));
    expect(await log.list()).toEqual([]);
    expect(notices).toMatchObject([{ type: "unreadable-session" }]);
    expect(readFileSync(recorded.path)).toEqual(bytes);
    expect(await log.remove("a")).toBe(true);
    expect(await log.open("a")).toBeUndefined();
    await log.close();
  });
});

describe("lines that are not records", () => {
  it.each<[string, string]>([
    ["a blank line", "\n"],
    ["blank lines", "\n\n\n"],
    ["blank lines after half a record", '{"seq":6,"chan\n\n'],
    ["half a record after a blank line", '\n{"seq":6,"chan'],
    ["a carriage return and a line break", "\r\n"],
  ])("%s at the end are damage, and the records before it can be read", async (_, text) => {
    using recorded = await Recorded.with();
    appendFileSync(recorded.path, text);
    const bytes = readFileSync(recorded.path);
    const log = recorded.open();
    const session = await log.open("a");
    for (const call of [() => session?.read(), () => session?.head(), () => session?.append(5, [])])
      expect(call).toThrow(corruptAt(6));

    expect(await session?.inspect()).toEqual({
      records: recorded.records,
      damage: corruptAt(6),
      unfinishedBytes: 0,
    });
    expect(readFileSync(recorded.path)).toEqual(bytes);
    await log.close();
  });
});

describe("a file whose end was acknowledged", () => {
  const acknowledging: readonly (readonly [string, (session: SessionLog) => unknown])[] = [
    ["a snapshot", (session) => session.saveSnapshot(snapshotOf(2))],
    ["a lease", (session) => session.lease({ owner: "x", now: 0, ttlMs: 10 })],
    [
      "a released lease",
      async (session) => {
        await session.lease({ owner: "x", now: 0, ttlMs: 10 });
        await session.release("x");
      },
    ],
  ];
  it.each(acknowledging)(
    "by %s, is damaged when its last record is truncated by one byte or more",
    async (_, last) => {
      using recorded = await Recorded.with({}, last);
      const size = statSync(recorded.path).size;
      const start = readFileSync(recorded.path).lastIndexOf(10, size - 2) + 1;
      for (const length of [size - 1, start + 1, start]) {
        using copy = copyDirectory(recorded.temporary.path);
        const path = pathOf(copy.path, "a");
        truncateSync(path, length);
        const log = jsonlLog(copy.path, { onNotice: noNotice });
        const session = await log.open("a");
        const missing = corruptAt(5);
        for (const call of [() => session?.read(), () => session?.head(), () => session?.append(4, [])])
          expect(call).toThrow(missing);

        const inspection = { records: recorded.records.slice(0, 4), damage: missing, unfinishedBytes: 0 };
        expect(await session?.inspect()).toEqual(inspection);
        expect(statSync(path).size).toBe(length);
        await log.close();
      }
    },
  );

  it("is valid after its lease file was deleted, which accepts the loss", async () => {
    using recorded = await Recorded.with({}, (session) => session.saveSnapshot(snapshotOf(2)));
    truncateSync(recorded.path, statSync(recorded.path).size - 1);
    using copy = copyDirectory(recorded.temporary.path);
    rmSync(pathOf(copy.path, "a").replace(/jsonl$/, "lease"));
    const log = jsonlLog(copy.path, { onNotice: noNotice });
    expect(await (await log.open("a"))?.head()).toBe(4);
    await log.close();
  });

  it.each(acknowledging)("by %s of a relaxed log, may lose its last record", async (_, last) => {
    using recorded = await Recorded.with({ durability: "relaxed" }, last);
    truncateSync(recorded.path, statSync(recorded.path).size - 1);
    const log = recorded.open({ durability: "relaxed" });
    const session = await log.open("a");
    expect(await session?.head()).toBe(4);
    expect(await session?.inspect()).toMatchObject({
      damage: undefined,
      unfinishedBytes: expect.any(Number),
    });
    await log.close();
  });
});

describe("a folder where a file should be", () => {
  it("is an error with its path, and the list skips it", async () => {
    using recorded = await Recorded.with();
    const folder = pathOf(recorded.temporary.path, "folder");
    mkdirSync(folder);
    const log = recorded.open();
    const refused = expect.objectContaining({ code: "LogWrite", message: expect.stringContaining(folder) });
    expect(() => log.open("folder")).toThrow(refused);
    expect(() => log.create("folder", "{}")).toThrow(refused);
    expect((await log.list()).map(({ id }) => id)).toEqual(["a"]);
    await log.close();
  });

  it("and a file where the folder should be, are errors with the path", () => {
    using temporary = new TemporaryDirectory();
    writeFileSync(temporary.file("file"), "text");
    const refused = expect.objectContaining({
      code: "LogWrite",
      message: expect.stringContaining(temporary.file("file")),
    });
    expect(() => jsonlLog(temporary.file("file"))).toThrow(refused);
  });
});

describe("a session file with two names", () => {
  it("in one folder is in the list once", async () => {
    using recorded = await Recorded.with();
    linkSync(recorded.path, pathOf(recorded.temporary.path, "other"));
    const log = recorded.open();
    expect((await log.list()).map(({ id }) => id)).toEqual(["a"]);
    expect(() => log.open("other")).toThrow(corruptAt(0));
    await log.close();
  });

  it("by a link to its folder has one owner", async () => {
    using recorded = await Recorded.with();
    using other = new TemporaryDirectory();
    symlinkSync(recorded.temporary.path, other.file("link"));
    const log = recorded.open();
    expect(() => jsonlLog(other.file("link"))).toThrow(expect.objectContaining({ code: "LogBusy" }));
    await log.close();
  });
});

describe("a SQLite log at an invalid path", () => {
  it.each<[string, (temporary: TemporaryDirectory) => string]>([
    ["in a missing folder", (temporary) => temporary.file("none/log.db")],
    ["on a folder", (temporary) => temporary.path],
    ["below a file", () => join(import.meta.filename, "log.db")],
  ])("%s is an error with its path, and nothing is made", (_, pathIn) => {
    using temporary = new TemporaryDirectory();
    const path = pathIn(temporary);
    const refused = expect.objectContaining({ code: "LogWrite", message: expect.stringContaining(path) });
    expect(() => sqliteLog(path)).toThrow(refused);
    expect(readdirSync(temporary.path)).toEqual([]);
  });

  it("is rejected under a second name: each name would have its own write-ahead log", async () => {
    using temporary = new TemporaryDirectory();
    const log = sqliteLog(temporary.file("log.db"));
    await appendBodies(await log.create("a", "{}"), "{}");
    await log.close();
    linkSync(temporary.file("log.db"), temporary.file("other.db"));
    for (const name of ["log.db", "other.db"]) {
      const refused = expect.objectContaining({
        code: "LogWrite",
        message: expect.stringContaining(temporary.file(name)),
      });
      expect(() => sqliteLog(temporary.file(name))).toThrow(refused);
    }
  });

  it("by a symbolic link, is the same log with the same files beside it", async () => {
    using temporary = new TemporaryDirectory();
    const log = sqliteLog(temporary.file("log.db"));
    const session = await log.create("a", "{}");
    symlinkSync(temporary.file("log.db"), temporary.file("link.db"));
    await using other = sqliteLog(temporary.file("link.db"));
    const elsewhere = await other.open("a");
    expect(await appendBodies(session, "{}")).toEqual(await elsewhere?.read());
    expect(readdirSync(temporary.path).filter((name) => name.startsWith("link.db-"))).toEqual([]);
    await log.close();
  });

  it("an empty file is an empty database, as for SQLite", async () => {
    using temporary = new TemporaryDirectory();
    writeFileSync(temporary.file("log.db"), "");
    const log = sqliteLog(temporary.file("log.db"));
    expect(await log.list()).toEqual([]);
    await log.close();
  });
});
