import { describe, expect, it } from "vitest";
import type { LogRecord } from "../src/index.ts";
import { type FileSystem, jsonlLog } from "../src/jsonl.ts";
import { bodies, appendBodies, PowerLossDisk, seededRandom } from "../src/testing/index.ts";
import { isProof, noNotice, Place } from "./stores.ts";

const variants = isProof ? 1_000 : 50;

/** What is appended: singly and in batches, smaller and larger than a sector. */
const batches: readonly (readonly string[])[] = Array.from({ length: 12 }, (_, round) =>
  bodies(round % 3 === 2 ? 4 : 1, round % 4 === 1 ? "x".repeat(1_500) : `round ${round}`),
);

const isPrefix = (prefix: readonly LogRecord[], all: readonly LogRecord[]): boolean =>
  JSON.stringify(prefix) === JSON.stringify(all.slice(0, prefix.length));

/** A session on a disk that may lose power: after each call that matters, or in the middle of it. */
class PowerRun {
  readonly place = new Place();
  readonly disk = new PowerLossDisk();
  readonly random = seededRandom(9);
  beforeSync: (() => void) | undefined;

  /** The disk, telling when a sync is asked for and not yet done. */
  readonly fs: FileSystem = new Proxy<FileSystem>(this.disk, {
    get: (disk, name) => {
      const value: unknown = Reflect.get(disk, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (name === "fsyncSync") this.beforeSync?.();
        return Reflect.apply(value, disk, args);
      };
    },
  });

  /** The records that a new log finds when power is back; none when the session is not there. */
  async survivors(durability: "full" | "relaxed"): Promise<readonly LogRecord[]> {
    return this.survivorsOf(this.disk.losePower(this.random), durability);
  }

  async survivorsOf(fs: FileSystem, durability: "full" | "relaxed"): Promise<readonly LogRecord[]> {
    const log = jsonlLog(this.place.path, { fs, durability, onNotice: noNotice });
    const session = await log.open("a");
    const records = (await session?.read()) ?? [];
    // A log that was mended takes the next record.
    if (session !== undefined) await appendBodies(session, "{}");
    await log.close();
    return records;
  }

  [Symbol.dispose](): void {
    this.place[Symbol.dispose]();
  }
}

describe("(B09) a JSONL log that loses power", () => {
  it("has every acknowledged record, and no other, after each acknowledgement", async () => {
    using run = new PowerRun();
    const log = jsonlLog(run.place.path, { fs: run.fs });
    const session = await log.create("a", "{}");
    const acknowledged: LogRecord[] = [];
    for (const batch of batches) {
      acknowledged.push(...(await appendBodies(session, ...batch)));
      await session.lease({ owner: "me", now: 0, ttlMs: 10 });
      for (let variant = 0; variant < variants; variant += 1) {
        expect(await run.survivors("full")).toEqual(acknowledged);
      }
    }
    await log.close();
  });

  it("has, when power goes in the middle of an append, that append as a whole or not at all", async () => {
    using run = new PowerRun();
    const log = jsonlLog(run.place.path, { fs: run.fs });
    const session = await log.create("a", "{}");
    let acknowledged: readonly LogRecord[] = [];
    const outcomes = { with: 0, without: 0 };
    for (const batch of batches) {
      const disks: PowerLossDisk[] = [];
      run.beforeSync = () => {
        for (let variant = 0; variant < variants; variant += 1) disks.push(run.disk.losePower(run.random));
      };
      const more = [...acknowledged, ...(await appendBodies(session, ...batch))];
      run.beforeSync = undefined;
      for (const disk of disks) {
        const found = await run.survivorsOf(disk, "full");
        expect([acknowledged.length, more.length]).toContain(found.length);
        expect(isPrefix(found, more)).toBe(true);
        outcomes[found.length === more.length ? "with" : "without"] += 1;
      }
      acknowledged = more;
    }
    // Otherwise the disk would not have done what it is for.
    expect(Math.min(outcomes.with, outcomes.without)).toBeGreaterThan(variants);
    await log.close();
  });

  it("has, once a full log has shown them, also the records that others wrote and never synced", async () => {
    using run = new PowerRun();
    const hasty = jsonlLog(run.place.path, { fs: run.disk, durability: "relaxed" });
    const writer = await hasty.create("a", "{}");
    const written: LogRecord[] = [];
    const log = jsonlLog(run.place.path, { fs: run.disk, onNotice: noNotice });
    const watching = await log.open("a");
    for (const [round, batch] of batches.entries()) {
      written.push(...(await appendBodies(writer, ...batch)));
      // By a handle that knows the records before, and by one that knows none.
      const reader = round % 2 === 0 ? watching : await log.open("a");
      expect(await reader?.read()).toEqual(written);
      for (let variant = 0; variant < variants; variant += 1) {
        expect(await run.survivors("full")).toEqual(written);
      }
    }
    await log.close();
    await hasty.close();
  });

  it("has, once a full log has appended after them, also the records that others never synced", async () => {
    using run = new PowerRun();
    const hasty = jsonlLog(run.place.path, { fs: run.disk, durability: "relaxed" });
    const writer = await hasty.create("a", "{}");
    const log = jsonlLog(run.place.path, { fs: run.disk, onNotice: noNotice });
    const session = await log.open("a");
    const first = await appendBodies(writer, ...bodies(3));
    await session?.append(3, []);
    for (let variant = 0; variant < variants; variant += 1) {
      expect(await run.survivors("full")).toEqual(first);
    }
    await log.close();
    await hasty.close();
  });

  it("has some of the first records when it is relaxed, and its header always", async () => {
    using run = new PowerRun();
    const log = jsonlLog(run.place.path, { fs: run.fs, durability: "relaxed" });
    const session = await log.create("a", "{}");
    const appended: LogRecord[] = [];
    const lengths = new Set<number>();
    for (const batch of batches) {
      appended.push(...(await appendBodies(session, ...batch)));
      for (let variant = 0; variant < variants; variant += 1) {
        const survivor = run.disk.losePower(run.random);
        const found = await run.survivorsOf(survivor, "relaxed");
        expect(isPrefix(found, appended)).toBe(true);
        lengths.add(found.length);
      }
    }
    expect(lengths.size).toBeGreaterThan(5);
    await log.close();
  });

  it("stays removed, and stays created, once it said so", async () => {
    using run = new PowerRun();
    const log = jsonlLog(run.place.path, { fs: run.fs, durability: "relaxed" });
    for (const generation of bodies(3)) {
      await log.create("a", generation);
      for (let variant = 0; variant < variants; variant += 1) {
        const again = jsonlLog(run.place.path, { fs: run.disk.losePower(run.random) });
        expect((await again.open("a"))?.header).toBe(generation);
        await again.close();
      }
      await log.remove("a");
      for (let variant = 0; variant < variants; variant += 1) {
        const again = jsonlLog(run.place.path, { fs: run.disk.losePower(run.random) });
        expect(await again.open("a")).toBeUndefined();
        await again.close();
      }
    }
    await log.close();
  });
});
