import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { TemporaryDirectory } from "@moora/testbed/stores";
import { describe, expect, it } from "vitest";
import { sqliteLog } from "../src/sqlite.ts";
import { appendBodies } from "../src/testing/index.ts";

/** A database file as a process leaves it that dies while it writes the first pages, with the journal of what was before. */
function leaveHotJournal(folder: string): string {
  const [source, file] = [join(folder, "source.db"), join(folder, "left.db")];
  const database = new DatabaseSync(source);
  database.exec(
    "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; CREATE TABLE old (x); DROP TABLE old",
  );
  database.exec("PRAGMA cache_size = 1; BEGIN; CREATE TABLE fresh (x)");
  const insert = database.prepare("INSERT INTO fresh VALUES (?)");
  for (let row = 0; row < 200; row += 1) insert.run("x".repeat(1_000));
  copyFileSync(source, file);
  copyFileSync(`${source}-journal`, `${file}-journal`);
  database.exec("ROLLBACK");
  database.close();
  return file;
}

describe("a SQLite log whose process died while it created the file", () => {
  it("is rolled back and opened", async () => {
    using temporary = new TemporaryDirectory();
    const file = leaveHotJournal(temporary.path);
    const log = sqliteLog(file);
    const session = await log.create("ada", "{}");
    await appendBodies(session, "{}");
    expect((await session.read()).map(({ body }) => body)).toEqual(["{}"]);
    await log.close();
    expect(existsSync(`${file}-journal`)).toBe(false);
  });
});
