import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { sqliteLog } from "../src/sqlite.ts";
import { bodies, grow, headOf, recordsAfter } from "../src/testing/index.ts";
import { Place } from "./stores.ts";

/** Another connection that takes the write lock, says so, and lets go of it after a while. */
async function lockedFor(file: string, ms: number): Promise<Worker> {
  const holder = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
     const { DatabaseSync } = require("node:sqlite");
     const database = new DatabaseSync(workerData.file);
     database.exec("BEGIN IMMEDIATE");
     parentPort.postMessage("held");
     Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData.ms);
     database.exec("COMMIT");
     database.close();`,
    { eval: true, workerData: { file, ms } },
  );
  await once(holder, "message");
  return holder;
}

describe("(B10) another connection holds the write lock", () => {
  it("for longer than the limit: LogBusy, and nothing appended", async () => {
    using place = new Place();
    const log = sqliteLog(place.file("log.db"), { busyTimeoutMs: 30 });
    const session = await log.create("a", "{}");
    const records = await grow(session, ...bodies(2));
    const next = recordsAfter(await headOf(session), "{}");
    const holder = new DatabaseSync(place.file("log.db"));
    holder.exec("BEGIN IMMEDIATE");
    const busy = expect.objectContaining({ code: "LogBusy" });
    expect(() => session.append(2, next)).toThrow(busy);
    expect(() => session.lease({ owner: "x", now: 0, ttlMs: 1 })).toThrow(busy);
    expect(() => log.create("b", "{}")).toThrow(busy);
    expect(() => log.remove("a")).toThrow(busy);
    expect(await session.read()).toEqual(records);
    holder.exec("ROLLBACK");
    holder.close();
    await session.append(2, next);
    expect(await session.read()).toEqual([...records, ...next]);
    await log.close();
  });

  it("for less than the limit: the append waits and succeeds", async () => {
    using place = new Place();
    const log = sqliteLog(place.file("log.db"), { busyTimeoutMs: 60_000 });
    const session = await log.create("a", "{}");
    const holder = await lockedFor(place.file("log.db"), 300);
    const records = recordsAfter(await headOf(session), "{}");
    await session.append(0, records);
    expect(await session.read()).toEqual(records);
    await once(holder, "exit");
    await log.close();
  });
});
