import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonlLog } from "../src/jsonl.ts";
import { sqliteLog } from "../src/sqlite.ts";
import { appendBodies, snapshotOf } from "../src/testing/index.ts";
import { pathOf, TemporaryDirectory } from "@moora/testbed/stores";

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** The permissions of all files in a folder, by name without its random part. */
const modesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => modeOf(join(folder, name)));

describe("files that a log creates are accessible to their owner only", () => {
  it("folders and files of a JSONL log", async () => {
    using temporary = new TemporaryDirectory();
    const folder = temporary.file("deep/sessions");
    await using log = jsonlLog(folder);
    const session = await log.create("a", "{}");
    await appendBodies(session, "{}");
    await session.lease({ owner: "x", now: 0, ttlMs: 10 });
    await session.saveSnapshot(snapshotOf(1));
    expect([temporary.file("deep"), folder, join(folder, ".locks")].map(modeOf)).toEqual([
      "700",
      "700",
      "700",
    ]);
    const files = readdirSync(folder).filter((name) => name !== ".locks");
    expect(files.map((name) => modeOf(join(folder, name)))).toEqual(["600", "600", "600"]);
    expect(modesIn(join(folder, ".locks"))).toEqual(["600"]);
  });

  it("a SQLite database and the files beside it", async () => {
    using temporary = new TemporaryDirectory();
    await using log = sqliteLog(temporary.file("log.db"));
    await appendBodies(await log.create("a", "{}"), "{}");
    expect(readdirSync(temporary.path).toSorted()).toEqual(["log.db", "log.db-shm", "log.db-wal"]);
    expect(modesIn(temporary.path)).toEqual(["600", "600", "600"]);
  });
});

describe("existing files keep their permissions", () => {
  it("a folder, and files that are replaced in it", async () => {
    using temporary = new TemporaryDirectory();
    chmodSync(temporary.path, 0o750);
    await using log = jsonlLog(temporary.path);
    const session = await log.create("a", "{}");
    await session.lease({ owner: "x", now: 0, ttlMs: 10 });
    const lease = pathOf(temporary.path, "a").replace(/jsonl$/, "lease");
    for (const file of [pathOf(temporary.path, "a"), lease]) chmodSync(file, 0o664);
    await session.lease({ owner: "x", now: 1, ttlMs: 10 });
    await appendBodies(session, "{}");
    expect(modeOf(lease)).toBe("664");
    expect(modeOf(pathOf(temporary.path, "a"))).toBe("664");
    expect(modeOf(temporary.path)).toBe("750");
  });

  it("a database", async () => {
    using temporary = new TemporaryDirectory();
    writeFileSync(temporary.file("log.db"), "", { mode: 0o644 });
    await using log = sqliteLog(temporary.file("log.db"));
    await appendBodies(await log.create("a", "{}"), "{}");
    expect(modesIn(temporary.path)).toEqual(["644", "644", "644"]);
  });
});
