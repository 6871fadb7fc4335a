import { once } from "node:events";
import { createServer } from "node:net";
import { chainStart, type EventLog } from "@moora/event-log";
import { bodies, appendBodies, recordsAfter } from "@moora/event-log/testing";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { postgresLog, type PostgresOptions, type PostgresPool } from "../src/index.ts";
import { storedToText, textToStored } from "../src/stored-text.ts";
import { failOnDriverWarnings } from "@moora/testbed/postgres/driver-warnings";
import { poolOn, PostgresServer } from "@moora/testbed/postgres/server";
import { altered } from "./altered-pool.ts";

let server: PostgresServer;
let admin: pg.Pool;
const logs: EventLog[] = [];

beforeAll(failOnDriverWarnings);
beforeAll(async () => {
  server = await PostgresServer.start();
  admin = poolOn(server.url);
});

afterEach(async () => {
  for (const log of logs.splice(0)) await log.close();
});

afterAll(async () => {
  await admin.end();
  await server[Symbol.asyncDispose]();
});

function open(source: string | PostgresPool, options: PostgresOptions = {}): EventLog {
  const log = postgresLog(source, options);
  logs.push(log);
  return log;
}

const [first = { seq: 1, body: "", changesDigest: "", digest: "" }] = recordsAfter(chainStart("{}"), "{}");

describe("a log whose tables are locked", () => {
  it("(B10) for longer than the timeout: an append fails with LogBusy and writes nothing", async () => {
    const session = await open(server.url, { busyTimeoutMs: 500 }).create("locked", "{}");
    const holder = await admin.connect();
    await holder.query("BEGIN; LOCK TABLE moora_records IN ACCESS EXCLUSIVE MODE");
    await expect(session.append(0, [first])).rejects.toMatchObject({ code: "LogBusy" });
    await holder.query("ROLLBACK");
    holder.release();
    expect(await session.read()).toEqual([]);
    await session.append(0, [first]);
    expect(await session.head()).toBe(1);
  });

  it("(B10) for less than the timeout: an append waits and succeeds", async () => {
    const session = await open(server.url, { busyTimeoutMs: 60_000 }).create("unlocked", "{}");
    const holder = await admin.connect();
    await holder.query("BEGIN; LOCK TABLE moora_records IN ACCESS EXCLUSIVE MODE");
    const appended = session.append(0, [first]);
    await holder.query("ROLLBACK");
    holder.release();
    await appended;
    expect(await session.head()).toBe(1);
  });
});

describe("a pool", () => {
  it("without a free connection is LogBusy, and gets back a connection that arrives too late", async () => {
    const pool = poolOn(server.url, 1);
    const listeners = pool.listenerCount("error");
    const log = open(pool, { busyTimeoutMs: 300 });
    const held = await pool.connect();
    await expect((async () => log.open("a"))()).rejects.toMatchObject({ code: "LogBusy" });
    held.release();
    expect(await log.open("unknown")).toBeUndefined();
    await log.close();
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    expect(pool.listenerCount("error")).toBe(listeners);
    await pool.end();
  });

  it("that the log created ends with it, and later calls fail", async () => {
    const log = postgresLog(server.url);
    const session = await log.create("closed", "{}");
    await log.close();
    await expect(session.append(0, [first])).rejects.toMatchObject({ code: "LogWrite" });
    await expect((async () => log.open("closed"))()).rejects.toMatchObject({ code: "LogWrite" });
  });

  it("that the log created ends with the block of the log", async () => {
    let closed: EventLog;
    {
      await using log = postgresLog(server.url);
      await log.list();
      closed = log;
    }
    await expect((async () => closed.list())()).rejects.toThrow(
      "The log is closed. Close the sessions of a log before the log.",
    );
  });
});

describe("a server", () => {
  it("that is unreachable is LogWrite after the timeout", async () => {
    const log = open("postgres://postgres@127.0.0.1:1/postgres", { busyTimeoutMs: 30 });
    await expect((async () => log.open("a"))()).rejects.toMatchObject({ code: "LogWrite" });
  });

  it("that does not respond results in a LogError", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const address = silent.address();
    const port = typeof address === "object" ? address?.port : 0;
    const log = open(`postgres://postgres@127.0.0.1:${port}/postgres`, { busyTimeoutMs: 300 });
    await expect((async () => log.open("a"))()).rejects.toMatchObject({ code: /^Log(Busy|Write)$/ });
    silent.close();
  });

  it("that rejects the password is LogWrite, without retries", async () => {
    await admin.query("CREATE ROLE stranger");
    const log = open(server.url.replace("postgres@", "stranger@"), { busyTimeoutMs: 60_000 });
    await expect((async () => log.open("a"))()).rejects.toMatchObject({ code: "LogWrite" });
  });
});

describe("the tables", () => {
  it("are created once, also by concurrent processes", async () => {
    const many = Array.from({ length: 12 }, () => open(server.url, { prefix: "race_" }));
    const outcomes = await Promise.all(many.map(async (log, index) => log.create(`session ${index}`, "{}")));
    expect(outcomes).toHaveLength(12);
    expect((await admin.query("SELECT * FROM race_format")).rows).toEqual([{ version: 1 }]);
    expect(await many[0]?.list()).toHaveLength(12);
  });

  it("of an earlier release list their sessions in pages, also those that a process of it creates meanwhile", async () => {
    const create = "INSERT INTO old_sessions (generation, id, header) VALUES (gen_random_uuid(), $1, $2)";
    const pageOf = async (log: EventLog, user: string): Promise<readonly string[] | undefined> =>
      (await log.page?.({ users: [user], limit: 1_000 }))?.map(({ id }) => id);
    const records = await appendBodies(
      await open(server.url, { prefix: "old_" }).create("a", '{"user":"ada"}'),
      ...bodies(3),
    );
    await admin.query("ALTER TABLE old_sessions DROP COLUMN user_key, DROP COLUMN caller_key");
    for (let number = 0; number < 250; number += 1)
      await admin.query(create, [`s${number}`, '{"user":"bob"}']);
    const many = Array.from({ length: 3 }, () => open(server.url, { prefix: "old_" }));
    const pages = await Promise.all(many.map(async (log) => pageOf(log, "bob")));
    expect(pages.map((page) => page?.length)).toEqual([250, 250, 250]);
    await admin.query(create, ["b", '{"user":"ada","caller":"a/1"}']);
    for (const log of many) {
      expect(await pageOf(log, "ada")).toEqual(["a", "b"]);
      expect((await log.called?.("a/"))?.map(({ id }) => id)).toEqual(["b"]);
      expect(await (await log.open("a"))?.read()).toEqual(records);
    }
  });

  it("can be in a separate schema", async () => {
    const [one, other] = [open(server.url, { schema: "Agents' logs".replace("'", "") }), open(server.url)];
    await appendBodies(await one.create("a", "{}"), ...bodies(3));
    expect(await other.open("a")).toBeUndefined();
    expect(
      (await admin.query('SELECT count(*)::int AS count FROM "Agents logs".moora_records')).rows,
    ).toEqual([{ count: 3 }]);
  });

  it.each([{ prefix: 'x"; DROP TABLE moora_records; --' }, { schema: "a.b" }, { prefix: "x".repeat(41) }])(
    "cannot have a name that needs escapes or is too long: %j",
    (options) => {
      expect(() => postgresLog(server.url, options)).toThrow(
        expect.objectContaining({ name: "LogError", code: "InvalidOption" }),
      );
    },
  );

  it("can be used by a role without permission to create tables", async () => {
    await open(server.url).create("for the clerk", "{}");
    await admin.query(
      "CREATE ROLE clerk LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO clerk",
    );
    const session = await open(server.url.replace("postgres@", "clerk@")).open("for the clerk");
    await session?.append(0, [first]);
    expect(await session?.head()).toBe(1);
  });

  it("are rejected in a database that cannot store all texts", async () => {
    await admin.query("CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0");
    const log = open(server.url.replace(/postgres$/, "ascii"));
    await expect((async () => log.open("a"))()).rejects.toMatchObject({ code: "UnsupportedVersion" });
  });

  it("contain JSON unchanged", async () => {
    const session = await open(server.url).create("plain", '{"agent":"x"}');
    await appendBodies(session, '{"a":"\u{1F600}"}');
    const { rows } = await admin.query(
      "SELECT header, body FROM moora_records JOIN moora_sessions USING (generation) WHERE id = 'plain'",
    );
    expect(rows).toEqual([{ header: '{"agent":"x"}', body: '{"a":"\u{1F600}"}' }]);
  });
});

describe("an acknowledged append", () => {
  it("is on the disk, also if the server's default is asynchronous commit", async () => {
    const session = await open(`${server.url}?options=-c%20synchronous_commit%3Doff`).create("sync", "{}");
    let flushed = 0;
    for (const record of recordsAfter(chainStart("{}"), ...bodies(20))) {
      await session.append(record.seq - 1, [record]);
      const { rows } = await admin.query(
        "SELECT pg_current_wal_insert_lsn() <= pg_current_wal_flush_lsn() AS all",
      );
      flushed += rows[0].all === true ? 1 : 0;
    }
    // The server may flush by itself in between.
    expect(flushed).toBeGreaterThan(15);
  });
});

describe("appends", () => {
  it("are planned once for each connection", async () => {
    const pool = poolOn(server.url);
    const session = await open(pool).create("planned", "{}");
    await appendBodies(session, "[1]");
    await appendBodies(session, "[2]", "[3]");
    const { rows } = await pool.query("SELECT name FROM pg_prepared_statements");
    expect(rows).toEqual([{ name: expect.stringMatching(/^moora_append_/) }]);
    await pool.end();
  });

  it.each(["26000", "42P05"])(
    "have no name behind a pooler that does not know the names of statements (%s)",
    async (code) => {
      const pool = poolOn(server.url);
      const names: string[] = [];
      const session = await open(withoutNames(pool, code, names)).create(`pooled ${code}`, "{}");
      const records = await appendBodies(session, "[1]");
      const more = await appendBodies(session, "[2]", "[3]");
      expect(await session.read()).toEqual([...records, ...more]);
      expect(names).toHaveLength(1);
      await pool.end();
    },
  );
});

/** A pool whose connections reject statements that have a name. */
const withoutNames = (pool: pg.Pool, code: string, names: string[]): PostgresPool =>
  altered(pool, async (query, statement, values) => {
    if (typeof statement === "string") return query(statement, values);
    names.push(statement.name);
    throw Object.assign(new Error("prepared statement"), { code, severity: "ERROR" });
  });

describe("watches that start and stop", () => {
  it("(V13) leave no listening connection", async () => {
    const log = postgresLog(server.url);
    const session = await log.create("coming and going", "{}");
    for (let round = 0; round < 30; round += 1) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stop = session.watch(resolve);
      await (round % 3 === 0 ? promise : session.head());
      stop();
    }
    // It waits for every connection that is in use, so a leaked connection would make it wait forever.
    await log.close();
    // A server process needs a moment to end.
    for (let left = 1; left > 0;) {
      const { rows } = await admin.query(
        "SELECT query FROM pg_stat_activity WHERE application_name = 'moora' AND query LIKE 'LISTEN%'",
      );
      left = rows.length;
    }
    await expect((async () => log.list())()).rejects.toMatchObject({ code: "LogWrite" });
  });
});

/** A pool whose connections reject statements that contain these words. */
const refusing = (pool: pg.Pool, words: string): PostgresPool =>
  altered(pool, async (query, statement, values) => {
    if (typeof statement !== "string") return query(statement.text, statement.values);
    if (statement.includes(words))
      throw Object.assign(new Error("refused"), { code: "42501", severity: "ERROR" });
    return query(statement, values);
  });

describe("a watch with notifications", () => {
  it("is notified without polling", async () => {
    const pool = poolOn(server.url);
    const log = open(refusing(pool, "ANY ($1::uuid[])"));
    const other = open(server.url);
    const session = await log.create("heard", "{}");
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = session.watch(resolve);
    const elsewhere = await other.open("heard");
    const notified = { isOver: false };
    const waiting = promise.then(() => (notified.isOver = true));
    // The listening connection needs a moment to connect.
    while (!notified.isOver) {
      await appendBodies(elsewhere ?? session, "{}");
      await Promise.race([waiting, new Promise((next) => setImmediate(next))]);
    }
    expect(await session.head()).toBeGreaterThan(0);
    stop();
    await log.close();
    await pool.end();
  });
});

describe("a watch without notifications", () => {
  it("finds new records by polling", async () => {
    const [log, other] = [open(server.url, { notify: false }), open(server.url, { notify: false })];
    const session = await log.create("quiet", "{}");
    const { promise, resolve } = Promise.withResolvers<number>();
    const look = async (): Promise<void> => {
      const head = await session.head();
      if (head > 0) resolve(head);
    };
    const looks: Promise<void>[] = [];
    const stop = session.watch(() => looks.push(look()));
    const elsewhere = await other.open("quiet");
    await elsewhere?.append(0, [first]);
    expect(await promise).toBe(1);
    stop();
    await Promise.all(looks);
  });
});

describe("a text with characters that PostgreSQL cannot store", () => {
  it.each(["\0", "\u0001", "\u00010", "\u00011", "\0\u0001\0", "a\u0001\u00010\0b1", "", "plain"])(
    "is read back unchanged: %j",
    (text) => {
      expect(storedToText(textToStored(text))).toBe(text);
      expect(textToStored(text)).not.toContain("\0");
    },
  );
});
