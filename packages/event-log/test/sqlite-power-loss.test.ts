import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { chainStart, type LogRecord } from "../src/index.ts";
import { type OpenDatabase, sqliteLog } from "../src/sqlite.ts";
import { bodies, appendBodies, recordsAfter, seededRandom } from "../src/testing/index.ts";
import { isProof } from "@moora/testbed/sample";
import { copyDirectory, TemporaryDirectory } from "@moora/testbed/stores";

const variants = isProof ? 250 : 12;
const sector = 512;

const batches: readonly (readonly string[])[] = Array.from({ length: 8 }, (_, round) =>
  bodies(round % 3 === 2 ? 4 : 1, round % 4 === 1 ? "x".repeat(1_500) : `round ${round}`),
);

const walOf = (temporary: TemporaryDirectory): Buffer => readFileSync(temporary.file("log.db-wal"));

/**
 * A possible content of the write-ahead log after an outage, when only the bytes before were synced: any length, and any of the
 * sectors that were written since. The database itself is written and synced only at a checkpoint, which does not happen here.
 */
function torn(before: Buffer, after: Buffer, random: () => number): Buffer {
  const length = random() < 0.5 ? after.length : Math.floor(random() * (after.length + 1));
  const chance = 1 - random() ** 4;
  const bytes = Buffer.alloc(Math.max(before.length, length));
  before.copy(bytes);
  for (let start = 0; start < length; start += sector)
    if (random() < chance) after.copy(bytes, start, start, Math.min(start + sector, length));

  return bytes;
}

async function recordsIn(temporary: TemporaryDirectory): Promise<readonly LogRecord[]> {
  const log = sqliteLog(temporary.file("log.db"));
  const session = (await log.open("a")) ?? (await log.create("a", "{}"));
  const records = await session.read();
  await appendBodies(session, "{}");
  await log.close();
  return records;
}

interface Loss {
  readonly found: readonly LogRecord[];
  readonly acknowledged: readonly LogRecord[];
  readonly next: readonly LogRecord[];
}

/** Appends, and loses power during each append, when only synced data survives. */
async function losses(durability: "full" | "relaxed"): Promise<readonly Loss[]> {
  using temporary = new TemporaryDirectory();
  const random = seededRandom(durability.length);
  const log = sqliteLog(temporary.file("log.db"), { durability });
  const session = await log.create("a", "{}");
  using created = copyDirectory(temporary.path);
  const result: Loss[] = [];
  let acknowledged: readonly LogRecord[] = [];
  for (const batch of batches) {
    using before = copyDirectory(temporary.path);
    const next = recordsAfter(acknowledged.at(-1) ?? chainStart("{}"), ...batch);
    await session.append(acknowledged.length, next);
    const safe = walOf(durability === "full" ? before : created);
    for (let variant = 0; variant < variants; variant += 1) {
      using after = copyDirectory(before.path);
      writeFileSync(after.file("log.db-wal"), torn(safe, walOf(temporary), random));
      result.push({ found: await recordsIn(after), acknowledged, next });
    }
    acknowledged = [...acknowledged, ...next];
  }
  await log.close();
  return result;
}

describe("(B09) a SQLite log that loses power", () => {
  it("has every acknowledged record, and all or none of the append in progress", async () => {
    const all = await losses("full");
    for (const { found, acknowledged, next } of all)
      expect([acknowledged, [...acknowledged, ...next]]).toContainEqual(found);

    expect(new Set(all.map(({ found, acknowledged }) => found.length > acknowledged.length)).size).toBe(2);
  });

  it("has a prefix of the records when it is relaxed", async () => {
    const all = await losses("relaxed");
    for (const { found, acknowledged, next } of all)
      expect(found).toEqual([...acknowledged, ...next].slice(0, found.length));

    expect(new Set(all.map(({ found }) => found.length)).size).toBeGreaterThan(4);
  });

  it.each([
    ["full", 2],
    ["relaxed", 1],
  ] as const)("syncs each commit as %s asks for", async (durability, synchronous) => {
    using temporary = new TemporaryDirectory();
    const opened: DatabaseSync[] = [];
    const openDatabase: OpenDatabase = (file, options) => {
      const database = new DatabaseSync(file, options);
      opened.push(database);
      return database;
    };
    const log = sqliteLog(temporary.file("log.db"), { durability, openDatabase });
    expect(opened.at(-1)?.prepare("PRAGMA synchronous").get()).toEqual({ synchronous });
    expect(opened.at(-1)?.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    await log.close();
  });
});
