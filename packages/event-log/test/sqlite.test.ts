import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { chainStart, LogError } from "../src/index.ts";
import { type OpenDatabase, sqliteLog } from "../src/sqlite.ts";
import {
  bodies,
  appendBodies,
  appendOneByOne,
  headOf,
  recordsAfter,
  seededRandom,
  snapshotOf,
} from "../src/testing/index.ts";
import { copyDirectory, noNotice, TemporaryDirectory } from "@moora/testbed/stores";

const codeOf = (error: unknown): string => (error instanceof LogError ? error.code : String(error));

/** A database whose statements fail with a result code of SQLite while `failWith` is set. */
function failingDatabase(): {
  openDatabase: OpenDatabase;
  failWith: Map<string, number>;
  opened: () => number;
} {
  const failWith = new Map<string, number>();
  let opened = 0;
  const openDatabase: OpenDatabase = (file, options) => {
    opened += 1;
    const database = new DatabaseSync(file, options);
    const prepare = database.prepare.bind(database);
    database.prepare = (sql) => {
      const statement = prepare(sql);
      return new Proxy(statement, {
        get(target, name) {
          const errcode = failWith.get(sql.split(" ", 1)[0] ?? "");
          if (errcode !== undefined)
            throw Object.assign(new Error("a fault of this test"), { code: "ERR_SQLITE_ERROR", errcode });

          const value: unknown = Reflect.get(target, name);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    };
    return database;
  };
  return { openDatabase, failWith, opened: () => opened };
}

describe("(B08) a SQLite log whose commit failed", () => {
  const failures: readonly (readonly [string, number])[] = [
    ["the disk is full", 13],
    ["the sync failed", 1034],
    ["the write failed", 778],
    ["the file is read-only", 8],
  ];
  it.each(failures)(
    "acknowledges neither it nor a later append until the session is opened again: %s",
    async (_what, code) => {
      using temporary = new TemporaryDirectory();
      const { openDatabase, failWith, opened } = failingDatabase();
      await using log = sqliteLog(temporary.file("log.db"), { openDatabase });
      const session = await log.create("a", "{}");
      const other = await log.open("a");
      const records = await appendBodies(session, ...bodies(3));
      const next = recordsAfter(await headOf(session), '{"next":true}');
      const refusal = expect.objectContaining({ code: "LogWrite" });
      failWith.set("COMMIT", code);
      expect(() => session.append(3, next)).toThrow(refusal);
      failWith.clear();
      expect(() => session.append(3, next)).toThrow(refusal);
      expect(() => other?.append(3, next)).toThrow(refusal);
      expect(await session.read()).toEqual(records);
      const before = opened();
      const again = await log.open("a");
      expect(opened()).toBeGreaterThan(before);
      expect(await again?.read()).toEqual(records);
      await again?.append(3, next);
      expect(await session.read()).toEqual([...records, ...next]);
    },
  );

  it("keeps the earlier records when the database is in memory", async () => {
    const { openDatabase, failWith } = failingDatabase();
    await using log = sqliteLog(":memory:", { openDatabase });
    const session = await log.create("a", "{}");
    const records = await appendBodies(session, "{}");
    failWith.set("COMMIT", 13);
    expect(() => session.append(1, recordsAfter(records.at(-1) ?? { seq: 0, digest: "" }, "{}"))).toThrow(
      LogError,
    );
    failWith.clear();
    const again = await log.open("a");
    expect(await again?.read()).toEqual(records);
  });
});

describe("(B06) a batch is not appended if any of its statements fails", () => {
  it.each(["INSERT", "COMMIT", "BEGIN"])("%s", async (verb) => {
    using temporary = new TemporaryDirectory();
    const { openDatabase, failWith } = failingDatabase();
    await using log = sqliteLog(temporary.file("log.db"), { openDatabase });
    const session = await log.create("a", "{}");
    const records = await appendBodies(session, ...bodies(2));
    const more = recordsAfter(await headOf(session), ...bodies(3));
    failWith.set(verb, 10);
    expect(() => session.append(2, more)).toThrow(expect.objectContaining({ code: "LogWrite" }));
    failWith.clear();
    expect(await session.read()).toEqual(records);
  });
});

describe("a damaged database", () => {
  it.each([
    ["that is not a database", "this is not a database, but long enough to be taken for one. ".repeat(100)],
    ["of zeros", "\0".repeat(8_192)],
  ])("%s is LogCorrupt when it is opened", (_what, text) => {
    using temporary = new TemporaryDirectory();
    writeFileSync(temporary.file("log.db"), text);
    expect(() => sqliteLog(temporary.file("log.db"))).toThrow(
      expect.objectContaining({ code: "LogCorrupt" }),
    );
    expect(readFileSync(temporary.file("log.db"), "utf8")).toBe(text);
  });

  it("never returns records that were not appended, nor throws an error of SQLite", async () => {
    using temporary = new TemporaryDirectory();
    const log = sqliteLog(temporary.file("log.db"));
    const records = await appendOneByOne(await log.create("a", "{}"), ...bodies(400));
    await log.close();
    const sound = readFileSync(temporary.file("log.db"));
    const random = seededRandom(5);
    const outcomes = new Map<string, number>();
    for (let round = 0; round < 300; round += 1) {
      const bytes = Buffer.from(sound);
      // A burst in a page is more likely to hit important data than one bit.
      const offset = Math.floor(random() * (bytes.length - 64));
      for (let at = 0; at < 64; at += 1) bytes.writeUInt8(Math.floor(random() * 256), offset + at);
      writeFileSync(temporary.file("damaged.db"), bytes);
      const outcome = await readOutcome(temporary.file("damaged.db"), JSON.stringify(records));
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    expect(new Set(outcomes.keys()).difference(new Set(["as appended", "LogCorrupt", "not there"]))).toEqual(
      new Set(),
    );
    expect(outcomes.get("LogCorrupt")).toBeGreaterThan(100);
  });
});

async function readOutcome(file: string, expected: string): Promise<string> {
  try {
    const log = sqliteLog(file);
    try {
      const session = await log.open("a");
      if (session === undefined) return "not there";
      return JSON.stringify(await session.read()) === expected ? "as appended" : "other records";
    } finally {
      await log.close();
    }
  } catch (error) {
    return codeOf(error);
  }
}

describe("a database whose last record was replaced with another valid one", () => {
  it("is damaged: the stored head has the digest of the original record", async () => {
    using temporary = new TemporaryDirectory();
    await using log = sqliteLog(temporary.file("log.db"));
    const session = await log.create("a", "{}");
    const records = await appendBodies(session, ...bodies(3));
    const [other] = recordsAfter(records[1] ?? chainStart("{}"), '{"forged":true}');
    const database = new DatabaseSync(temporary.file("log.db"));
    database
      .prepare("UPDATE moora_records SET body = ?, changes_digest = ?, digest = ? WHERE seq = 3")
      .run(other?.body ?? "", other?.changesDigest ?? "", other?.digest ?? "");
    database.close();
    const corrupt = expect.objectContaining({ code: "LogCorrupt", seq: 3 });
    for (const handle of [session, await log.open("a")]) {
      expect(() => handle?.read()).toThrow(corrupt);
      expect(() => handle?.read(2)).toThrow(corrupt);
      await expect(handle?.checkUpTo(3)).rejects.toThrow(corrupt);
      expect(await handle?.inspect()).toMatchObject({ records: records.slice(0, 2), damage: corrupt });
    }
  });
});

describe("the check of records that a session does not read", () => {
  it("compares their checksums, and reads the records only if they differ", async () => {
    using temporary = new TemporaryDirectory();
    const log = sqliteLog(temporary.file("log.db"));
    const session = await log.create("a", "{}");
    for (const body of ['"a\0b"', "", "\u{1F600}\n", '{"a":1}']) await appendOneByOne(session, body);
    await session.saveSnapshot(snapshotOf(2));
    await appendBodies(session, ...bodies(2_500));
    await session.saveSnapshot(snapshotOf(2_000));
    await log.close();
    const statements: string[] = [];
    const openDatabase: OpenDatabase = (file, options) => {
      const database = new DatabaseSync(file, options);
      const prepare = database.prepare.bind(database);
      database.prepare = (sql) => {
        statements.push(sql);
        return prepare(sql);
      };
      return database;
    };
    await using again = sqliteLog(temporary.file("log.db"), { openDatabase });
    await (await again.open("a"))?.checkUpTo(2_000);
    expect(statements.filter((sql) => sql.startsWith("SELECT seq"))).toEqual([]);
  });
});

describe("(L02) a database of a newer format", () => {
  it("is rejected on opening, and its bytes stay unchanged", async () => {
    using temporary = new TemporaryDirectory();
    const log = sqliteLog(temporary.file("log.db"));
    await appendBodies(await log.create("a", "{}"), ...bodies(3));
    await log.close();
    const database = new DatabaseSync(temporary.file("log.db"));
    database.exec("UPDATE moora_format SET version = 99");
    // Once closed, and once with the write-ahead log of a killed process.
    using killed = copyDirectory(temporary.path);
    database.close();
    for (const { file } of [temporary, killed].map(({ path }) => ({ file: join(path, "log.db") }))) {
      const before = bytesOf(file);
      expect(() => sqliteLog(file)).toThrow(expect.objectContaining({ code: "UnsupportedVersion" }));
      expect(bytesOf(file)).toEqual(before);
    }
    expect(bytesOf(killed.file("log.db")).wal.length).toBeGreaterThan(0);
  });
});

/** A database and its write-ahead log, empty when the file does not exist. */
const bytesOf = (file: string): { readonly main: Buffer; readonly wal: Buffer } => ({
  main: readFileSync(file),
  wal: existsSync(`${file}-wal`) ? readFileSync(`${file}-wal`) : Buffer.alloc(0),
});

describe("the database of an application", () => {
  it("may contain a log too; its own version and tables stay unchanged", async () => {
    using temporary = new TemporaryDirectory();
    const file = temporary.file("app.db");
    const database = new DatabaseSync(file, { timeout: 5_000 });
    database.exec("PRAGMA user_version = 41; CREATE TABLE mine (a TEXT); INSERT INTO mine VALUES ('x')");
    await using log = sqliteLog(file);
    await appendBodies(await log.create("a", "{}"), "{}");
    expect(database.prepare("SELECT a FROM mine").all()).toEqual([{ a: "x" }]);
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 41 });
    database.close();
  });
});

describe("a log in memory", () => {
  it("keeps sessions while it is open", async () => {
    const log = sqliteLog(":memory:", { onNotice: noNotice });
    const records = await appendBodies(await log.create("a", "{}"), ...bodies(3));
    expect(await (await log.open("a"))?.read()).toEqual(records);
    await log.close();
    expect(() => log.open("a")).toThrow(expect.objectContaining({ code: "LogWrite" }));
  });
});
