import type pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createDatabase } from "@moora/testbed/postgres/database";
import { failOnDriverWarnings } from "@moora/testbed/postgres/driver-warnings";
import { poolOn } from "@moora/testbed/postgres/server";
import { checkMemories, memoryStoreCases } from "@moora/testbed/memory-store-cases";
import { postgresLog, postgresMemoryStore } from "../src/index.ts";

let url: string;
let pool: pg.Pool;
let prefixes = 0;
const newPrefix = (): string => `case${(prefixes += 1)}_`;

beforeAll(failOnDriverWarnings);
beforeAll(async () => {
  url = await createDatabase(inject("postgresUrl"));
  pool = poolOn(url);
});

afterAll(async () => {
  await pool.end();
});

describe("memories in PostgreSQL", () => {
  it.each(memoryStoreCases)("$name", async (memoryCase) => {
    const prefix = newPrefix();
    await checkMemories(memoryCase, (options) => postgresMemoryStore(pool, { ...options, prefix }));
  });

  it("create their table once, also when two processes begin at the same time, beside those of a log", async () => {
    const schema = "some-schema";
    const stores = [1, 2, 3].map(() => postgresMemoryStore(url, { schema }));
    await Promise.all(
      stores.map(async (store, at) => await store.remember("ada", { id: `${at}`, text: `Fact ${at}.`, at })),
    );
    const log = postgresLog(url, { schema });
    await log.create("a", "{}");
    expect(await stores[0]?.recall("ada", { text: "fact", limit: 9 })).toHaveLength(3);
    expect(await log.list()).toHaveLength(1);
    await log.close();
    for (const store of stores) await store.close();
  });

  it("work for a role that may not create tables, once they exist", async () => {
    const prefix = newPrefix();
    await using owner = postgresMemoryStore(url, { prefix });
    await owner.remember("ada", { id: "1", text: "Prefers tea.", at: 1 });
    await pool.query(
      `CREATE ROLE reader LOGIN PASSWORD 'reader'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader`,
    );
    const address = new URL(url);
    [address.username, address.password] = ["reader", "reader"];
    await using store = postgresMemoryStore(address.href, { prefix });
    expect(await store.recall("ada", { text: "tea", limit: 9 })).toHaveLength(1);
    await expect(store.forgetUser("ada")).rejects.toMatchObject({ code: "LogWrite" });
  });

  it("store once when the connection breaks after the statement was sent", async () => {
    const prefix = newPrefix();
    await using store = postgresMemoryStore(pool, { prefix });
    await store.recall("ada", { limit: 1 });
    const holder = await pool.connect();
    await holder.query(`BEGIN; LOCK TABLE ${prefix}memories IN ACCESS EXCLUSIVE MODE`);
    const remembered = store.remember("ada", { id: "1", text: "Prefers tea.", at: 1 });
    await expect
      .poll(async () => (await holder.query(waiting)).rows.length, { interval: 5 })
      .toBeGreaterThan(0);
    const [{ pid } = { pid: 0 }] = (await holder.query(waiting)).rows;
    await holder.query("SELECT pg_terminate_backend($1)", [pid]);
    await holder.query("ROLLBACK");
    holder.release();
    await remembered;
    expect(await store.recall("ada", { limit: 9 })).toEqual([{ id: "1", text: "Prefers tea.", at: 1 }]);
  });

  it("fail with an error that has no password, and refuse other sources and options", async () => {
    const store = postgresMemoryStore("postgres://ada:some-password@127.0.0.1:1/none", { busyTimeoutMs: 50 });
    const error: unknown = await store.recall("ada", { limit: 1 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "LogError" });
    expect(JSON.stringify(error)).not.toContain("some-password");
    await store.close();
    for (const source of ["", 7, null, undefined, {}]) {
      const message = "postgresMemoryStore needs a connection string or a pool of pg.";
      expect(() => postgresMemoryStore(source as string)).toThrow(message);
    }
    const options: object = { table: "x" };
    expect(() => postgresMemoryStore(url, options)).toThrow('Unknown option "table" of postgresMemoryStore.');
    expect(() => postgresMemoryStore(url, { prefix: "a'b" })).toThrow(/^A schema or prefix must have/);
  });
});

const waiting =
  "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
