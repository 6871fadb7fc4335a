/**
 * What an append costs in each store, beside the bare append of the same bytes, and what reading costs.
 * Run: node --conditions=@moora/source packages/event-log/bench/logs.ts [directory on the disk to measure]
 */
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { chainStart, checkedChain, type EventLog, type LogRecord, memoryLog } from "../src/index.ts";
import { jsonlLog } from "../src/jsonl.ts";
import { sqliteLog } from "../src/sqlite.ts";
import { recordsAfter } from "../src/testing/index.ts";

const directory = mkdtempSync(join(process.argv[2] ?? tmpdir(), "moora-bench-"));
const body = (index: number): string =>
  JSON.stringify({ type: "tool-call-completed", toolCallId: String(index), content: "x".repeat(180) });

function recordsOf(count: number): readonly LogRecord[] {
  return recordsAfter(chainStart("{}"), ...Array.from({ length: count }, (_, index) => body(index)));
}

/** The middle and the 99th of a hundred, in microseconds. */
function timed(count: number, run: (index: number) => void): string {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const start = performance.now();
    run(index);
    times.push((performance.now() - start) * 1_000);
  }
  times.sort((one, other) => one - other);
  const at = (part: number): string => (times[Math.floor(count * part)] ?? 0).toFixed(1).padStart(9);
  return `${at(0.5)} ${at(0.99)}`;
}

const say = (what: string, numbers: string): void => console.log(`${what.padEnd(44)}${numbers}`);

async function append(name: string, log: EventLog, count: number): Promise<void> {
  const session = await log.create(name, "{}");
  const records = recordsOf(count);
  say(
    `${name}: append`,
    timed(count, (index) => void session.append(index, records.slice(index, index + 1))),
  );
  await log.close();
}

function bareFile(count: number, isSynced: boolean): void {
  const fd = openSync(join(directory, `bare-${isSynced}`), "w");
  const lines = recordsOf(count).map((record) => Buffer.from(`${JSON.stringify(record)}\n`));
  say(
    isSynced ? "bare: write and fsync" : "bare: write",
    timed(count, (index) => {
      writeSync(fd, lines[index] ?? new Uint8Array());
      if (isSynced) fsyncSync(fd);
    }),
  );
  closeSync(fd);
}

function bareInsert(count: number, synchronous: "FULL" | "NORMAL"): void {
  const database = new DatabaseSync(join(directory, `bare-${synchronous}.db`));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};
    CREATE TABLE records (seq INTEGER PRIMARY KEY, changes_digest TEXT, digest TEXT, body TEXT)`);
  const insert = database.prepare("INSERT INTO records VALUES (?, ?, ?, ?)");
  const records = recordsOf(count);
  say(
    `bare: INSERT, ${synchronous}`,
    timed(count, (index) => {
      const record = records[index];
      if (record !== undefined) insert.run(record.seq, record.changesDigest, record.digest, record.body);
    }),
  );
  database.close();
}

async function reading(name: string, open: () => EventLog, count: number): Promise<void> {
  const records = recordsOf(count);
  const log = open();
  const session = await log.create(`reading ${count}`, "{}");
  for (let at = 0; at < count; at += 1_000) await session.append(at, records.slice(at, at + 1_000));
  const again = await log.open(`reading ${count}`);
  const start = performance.now();
  const found = await again?.read();
  const all = performance.now();
  await again?.read(count - 10);
  const numbers = [all - start, performance.now() - all].map((ms) => ms.toFixed(1).padStart(9));
  say(`${name}: read all ${found?.length}, then the last 10`, numbers.join(" "));
  await log.close();
}

console.log(`${"an append of 250 bytes, µs".padEnd(44)}   median      99 %`);
await append("memory", memoryLog(), 5_000);
bareFile(1_000, true);
await append("jsonl", jsonlLog(join(directory, "full")), 1_000);
bareFile(10_000, false);
await append("jsonl, relaxed", jsonlLog(join(directory, "relaxed"), { durability: "relaxed" }), 10_000);
bareInsert(1_000, "FULL");
await append("sqlite", sqliteLog(join(directory, "full.db")), 1_000);
bareInsert(10_000, "NORMAL");
await append("sqlite, relaxed", sqliteLog(join(directory, "relaxed.db"), { durability: "relaxed" }), 10_000);

console.log(`\n${"reading, ms".padEnd(44)}      all   last 10`);
for (const count of [10_000, 100_000]) {
  const records = recordsOf(count);
  const start = performance.now();
  checkedChain(chainStart("{}"), records);
  say(`the chain of ${count} records alone`, (performance.now() - start).toFixed(1).padStart(9));
  await reading("memory", () => memoryLog(), count);
  await reading("jsonl", () => jsonlLog(join(directory, "read"), { durability: "relaxed" }), count);
  await reading("sqlite", () => sqliteLog(join(directory, "read.db"), { durability: "relaxed" }), count);
}

rmSync(directory, { recursive: true });
