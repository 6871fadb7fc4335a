import { describe, expect, it } from "vitest";
import type { LogRecord, SessionLog } from "../src/index.ts";
import { type FileSystem, jsonlLog } from "../src/jsonl.ts";
import { bodies, appendBodies, seededRandom } from "../src/testing/index.ts";
import { PowerLossDisk } from "./disks/power-loss-disk.ts";
import { isProof } from "@moora/testbed/sample";
import { noNotice, TemporaryDirectory } from "@moora/testbed/stores";

const variants = isProof ? 1_000 : 50;

/** The appends: single records and batches, smaller and larger than a sector. */
const batches: readonly (readonly string[])[] = Array.from({ length: 12 }, (_, round) =>
  bodies(round % 3 === 2 ? 4 : 1, round % 4 === 1 ? "x".repeat(1_500) : `round ${round}`),
);

const isPrefix = (prefix: readonly LogRecord[], all: readonly LogRecord[]): boolean =>
  JSON.stringify(prefix) === JSON.stringify(all.slice(0, prefix.length));

/** A session on a disk that may lose power after a call or during it. */
class PowerRun {
  readonly temporary = new TemporaryDirectory();
  readonly disk = new PowerLossDisk();
  readonly random = seededRandom(9);
  beforeSync: (() => void) | undefined;

  /** The disk, which reports each sync before it is done. */
  readonly fs: FileSystem = new Proxy<FileSystem>(this.disk, {
    get: (disk, name) => {
      const value: unknown = Reflect.get(disk, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (name === "fsyncSync" || name === "fdatasyncSync") this.beforeSync?.();
        return Reflect.apply(value, disk, args);
      };
    },
  });

  /** The records that a new log finds after the outage; none if the session does not exist. */
  async survivors(durability: "full" | "relaxed"): Promise<readonly LogRecord[]> {
    return this.survivorsOf(this.disk.losePower(this.random), durability);
  }

  async survivorsOf(fs: FileSystem, durability: "full" | "relaxed"): Promise<readonly LogRecord[]> {
    const log = jsonlLog(this.temporary.path, { fs, durability, onNotice: noNotice });
    const session = await log.open("a");
    const records = (await session?.read()) ?? [];
    // A repaired log accepts the next record.
    if (session !== undefined) await appendBodies(session, "{}");
    await log.close();
    return records;
  }

  [Symbol.dispose](): void {
    this.temporary[Symbol.dispose]();
  }
}

describe("(B09) a JSONL log that loses power", () => {
  it("has every acknowledged record, and no other, after each acknowledgment", async () => {
    using run = new PowerRun();
    await using log = jsonlLog(run.temporary.path, { fs: run.fs });
    const session = await log.create("a", "{}");
    const acknowledged: LogRecord[] = [];
    for (const batch of batches) {
      acknowledged.push(...(await appendBodies(session, ...batch)));
      await session.lease({ owner: "me", now: 0, ttlMs: 10 });
      for (let variant = 0; variant < variants; variant += 1)
        expect(await run.survivors("full")).toEqual(acknowledged);
    }
  });

  it("has all or none of an append during which power was lost", async () => {
    using run = new PowerRun();
    await using log = jsonlLog(run.temporary.path, { fs: run.fs });
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
    // Otherwise the disk would not have lost anything.
    expect(Math.min(outcomes.with, outcomes.without)).toBeGreaterThan(variants);
  });

  it.each([
    ["returned", (session: SessionLog) => session.read()],
    ["appended after", (session: SessionLog) => session.append(batches.flat().length, [])],
  ])(
    "has the records of a process that never synced and ended, once a full log has %s them",
    async (_, use) => {
      using run = new PowerRun();
      const hasty = jsonlLog(run.temporary.path, { fs: run.disk, durability: "relaxed" });
      const writer = await hasty.create("a", "{}");
      const written: LogRecord[] = [];
      for (const batch of batches) written.push(...(await appendBodies(writer, ...batch)));
      await hasty.close();
      await using log = jsonlLog(run.temporary.path, { fs: run.disk, onNotice: noNotice });
      const session = await log.open("a");
      if (session !== undefined) await use(session);
      for (let variant = 0; variant < variants; variant += 1)
        expect(await run.survivors("full")).toEqual(written);
    },
  );

  it("has a prefix of the records when it is relaxed, and always its header", async () => {
    using run = new PowerRun();
    await using log = jsonlLog(run.temporary.path, { fs: run.fs, durability: "relaxed" });
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
  });

  it("keeps an acknowledged creation or removal", async () => {
    using run = new PowerRun();
    await using log = jsonlLog(run.temporary.path, { fs: run.fs, durability: "relaxed" });
    for (const generation of bodies(3)) {
      await log.create("a", generation);
      for (let variant = 0; variant < variants; variant += 1) {
        await using again = jsonlLog(run.temporary.path, { fs: run.disk.losePower(run.random) });
        expect((await again.open("a"))?.header).toBe(generation);
      }
      await log.remove("a");
      for (let variant = 0; variant < variants; variant += 1) {
        await using again = jsonlLog(run.temporary.path, { fs: run.disk.losePower(run.random) });
        expect(await again.open("a")).toBeUndefined();
      }
    }
  });

  it("has the lease with which a session was created, wherever it has the session", async () => {
    using run = new PowerRun();
    const lease = { owner: "me", until: 60 };
    const seen = { with: 0, without: 0 };
    const look = async (disk: PowerLossDisk): Promise<void> => {
      await using again = jsonlLog(run.temporary.path, { fs: disk });
      const session = await again.open("a");
      if (session !== undefined) expect(await session.currentLease()).toEqual(lease);
      seen[session === undefined ? "without" : "with"] += 1;
    };
    const disks: PowerLossDisk[] = [];
    run.beforeSync = () => {
      for (let variant = 0; variant < variants; variant += 1) disks.push(run.disk.losePower(run.random));
    };
    for (const durability of ["full", "relaxed"] as const) {
      const log = jsonlLog(run.temporary.path, { fs: run.fs, durability });
      await log.create("a", "{}", { owner: "me", now: 50, ttlMs: 10 });
      disks.push(run.disk.losePower(run.random));
      await log.remove("a");
      await log.close();
      for (const disk of disks.splice(0)) await look(disk);
    }
    expect(Math.min(seen.with, seen.without)).toBeGreaterThan(variants);
  });
});
