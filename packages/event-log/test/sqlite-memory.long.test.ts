import { statSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { checkMemories, memoryStoreCases } from "@moora/testbed/memory-store-cases";
import { TemporaryDirectory } from "@moora/testbed/stores";
import { sqliteLog, sqliteMemoryStore } from "../src/sqlite.ts";
import { appendBodies } from "../src/testing/index.ts";

describe("memories in SQLite", () => {
  it.each(memoryStoreCases)("$name", async (memoryCase) => {
    using directory = new TemporaryDirectory();
    await checkMemories(memoryCase, (options) => sqliteMemoryStore(directory.file("memories.db"), options));
  });

  it("keep them in a file that only its user can read, or in memory", async () => {
    using directory = new TemporaryDirectory();
    await using store = sqliteMemoryStore(directory.file("memories.db"));
    await store.remember("ada", { id: "1", text: "Prefers tea.", at: 1 });
    expect(statSync(directory.file("memories.db")).mode & 0o777).toBe(0o600);
    await using inMemory = sqliteMemoryStore(":memory:");
    await inMemory.remember("ada", { id: "1", text: "Prefers tea.", at: 1 });
    expect(await inMemory.recall("ada", { text: "tea", limit: 1 })).toHaveLength(1);
  });

  it("share the file of a log, and change nothing of it", async () => {
    using directory = new TemporaryDirectory();
    const file = directory.file("log.db");
    await using log = sqliteLog(file);
    await using store = sqliteMemoryStore(file);
    await store.remember("ada", { id: "1", text: "Prefers tea.", at: 1 });
    const session = await log.create("ada", "{}");
    const records = await appendBodies(session, "{}");
    await store.forgetUser("ada");
    expect(await session.read()).toEqual(records);
    expect(await log.list()).toHaveLength(1);
  });

  it("keep the index the same as the table, whatever is replaced and removed", async () => {
    using directory = new TemporaryDirectory();
    const file = directory.file("memories.db");
    await using store = sqliteMemoryStore(file);
    for (let at = 0; at < 50; at += 1) {
      await store.remember("ada", { id: `${at % 7}`, text: `Fact ${at} of ${at % 5}.`, at });
      if (at % 3 === 0) await store.forget("ada", `${at % 4}`);
    }
    using database = new DatabaseSync(file);
    database.exec("INSERT INTO moora_memory_words (moora_memory_words, rank) VALUES ('integrity-check', 1)");
    expect((await store.recall("ada", { text: "fact", limit: 99 })).length).toBe(
      (await store.recall("ada", { limit: 99 })).length,
    );
  });

  it("wait for another connection that writes, and fail with LogBusy after the timeout", async () => {
    using directory = new TemporaryDirectory();
    const file = directory.file("memories.db");
    await using store = sqliteMemoryStore(file, { busyTimeoutMs: 0 });
    await store.remember("ada", { id: "1", text: "Prefers tea.", at: 1 });
    using other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const late = store.remember("ada", { id: "2", text: "Lives in Oslo.", at: 2 });
    await expect(late).rejects.toMatchObject({ code: "LogBusy" });
    other.exec("ROLLBACK");
    await store.remember("ada", { id: "2", text: "Lives in Oslo.", at: 2 });
    expect(await store.recall("ada", { limit: 9 })).toHaveLength(2);
  });

  it("name the release of Node.js to use where SQLite has no FTS5", async () => {
    const store = sqliteMemoryStore(":memory:", {
      openDatabase(path, options) {
        const database = new DatabaseSync(path, options);
        const prepare = database.prepare.bind(database);
        database.prepare = (text) => prepare(text.replace("'fts5'", "'fts9'"));
        return database;
      },
    });
    await expect(store.recall("ada", { limit: 1 })).rejects.toMatchObject({
      code: "UnsupportedRuntime",
      message: expect.stringContaining("Use Node.js 22.16 or newer, or postgresMemoryStore."),
    });
    await store.close();
  });

  it("refuse a file of another kind, and options that do not exist", () => {
    using directory = new TemporaryDirectory();
    writeFileSync(directory.file("text.db"), "Some other text. ".repeat(100));
    expect(() => sqliteMemoryStore(directory.file("text.db"))).toThrow(/^The log could not open: /);
    expect(() => sqliteMemoryStore("")).toThrow(/^sqliteMemoryStore needs the path of a file/);
    const options: object = { embedding: () => [1] };
    expect(() => sqliteMemoryStore(":memory:", options)).toThrow(
      'Unknown option "embedding" of sqliteMemoryStore.',
    );
    const wrong: object = { embed: "a model" };
    expect(() => sqliteMemoryStore(":memory:", wrong)).toThrow(
      'embed of sqliteMemoryStore must be a function, got "a model".',
    );
  });
});
