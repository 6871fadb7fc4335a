import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { chainStart, type EventLog } from "../src/index.ts";
import { sqliteLog } from "../src/sqlite.ts";
import { appendBodies } from "../src/testing/index.ts";
import { TemporaryDirectory } from "@moora/testbed/stores";

const insert = "INSERT INTO moora_sessions (id, header, head, digest) VALUES (?, ?, 0, ?)";

/** Creates a session as a release without pages does. */
function createAsBefore(database: DatabaseSync, id: string, header: string): void {
  database.prepare(insert).run(id, header, chainStart(header).digest);
}

/** Makes the tables those of a release without pages. */
const downgrade = (database: DatabaseSync): void =>
  database.exec(`
    DROP INDEX moora_sessions_by_user;
    DROP INDEX moora_sessions_by_caller;
    ALTER TABLE moora_sessions DROP COLUMN user_key;
    ALTER TABLE moora_sessions DROP COLUMN caller_key;
  `);

const pageOf = async (log: EventLog, user: string | null): Promise<readonly string[] | undefined> =>
  (await log.page?.({ users: [user], limit: 1_000 }))?.map(({ id }) => id);

const calledBy = async (log: EventLog, prefix: string): Promise<readonly string[] | undefined> =>
  (await log.called?.(prefix))?.map(({ id }) => id);

describe("a SQLite log of an earlier release", () => {
  it("lists its sessions in pages, and keeps their records", async () => {
    using temporary = new TemporaryDirectory();
    const file = temporary.file("log.db");
    const first = sqliteLog(file);
    const records = await appendBodies(await first.create("a", '{"user":"ada"}'), "{}", "{}");
    await first.close();
    const database = new DatabaseSync(file);
    downgrade(database);
    for (let number = 0; number < 450; number += 1) createAsBefore(database, `s${number}`, '{"user":"bob"}');
    createAsBefore(database, "sub", '{"user":"ada","caller":"a/1"}');
    database.close();
    const logs = [sqliteLog(file), sqliteLog(file)];
    for (const log of logs) {
      expect(await pageOf(log, "ada")).toEqual(["a", "sub"]);
      expect(await pageOf(log, "bob")).toHaveLength(450);
      expect(await pageOf(log, null)).toEqual([]);
      expect(await calledBy(log, "a/")).toEqual(["sub"]);
      expect(await (await log.open("a"))?.read()).toEqual(records);
    }
    for (const log of logs) await log.close();
  });

  it("lists the sessions that a process of that release creates meanwhile", async () => {
    using temporary = new TemporaryDirectory();
    const file = temporary.file("log.db");
    await sqliteLog(file).close();
    const older = new DatabaseSync(file);
    downgrade(older);
    const prepared = older.prepare(insert);
    createAsBefore(older, "a", '{"user":"ada"}');
    await using log = sqliteLog(file);
    expect(await pageOf(log, "ada")).toEqual(["a"]);
    prepared.run("b", '{"user":"ada"}', chainStart('{"user":"ada"}').digest);
    createAsBefore(older, "c", '{"caller":"a/1"}');
    older.close();
    expect(await calledBy(log, "a/")).toEqual(["c"]);
    expect(await pageOf(log, "ada")).toEqual(["a", "b"]);
    await log.create("d", '{"user":"ada"}');
    expect(await pageOf(log, "ada")).toEqual(["a", "b", "d"]);
  });
});

describe("a page of a SQLite log", () => {
  it("is read from an index", async () => {
    using temporary = new TemporaryDirectory();
    const file = temporary.file("log.db");
    await using log = sqliteLog(file);
    await log.create("a", "{}");
    const statements: string[] = [];
    await using traced = sqliteLog(file, {
      openDatabase: (path, options) => {
        const database = new DatabaseSync(path, options);
        const prepare = database.prepare.bind(database);
        database.prepare = (sql) => (statements.push(sql), prepare(sql));
        return database;
      },
    });
    await traced.page?.({ users: ["ada", null], limit: 2 });
    await traced.page?.({ limit: 2 });
    await traced.called?.("a/");
    const database = new DatabaseSync(file);
    const plans = statements
      .filter((sql) => sql.includes("moora_sessions"))
      .map((sql) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all());
    database.close();
    const details = plans.flat().map(({ detail }) => String(detail));
    expect(plans.length).toBeGreaterThanOrEqual(4);
    expect(details.filter((detail) => detail.startsWith("SCAN moora_sessions"))).toEqual([]);
    expect(details.some((detail) => detail.includes("moora_sessions_by_user"))).toBe(true);
  });
});
