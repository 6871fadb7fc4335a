import { readdirSync, readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { HeadWatch } from "../src/store.ts";
import { appendBodies } from "../src/testing/index.ts";
import { relaxedStores, sqliteStorage } from "@moora/testbed/stores";

const watching = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === "FSEvent" || name === "Timeout").length;

describe.each(relaxedStores)("(V13) watches of a $name log", ({ storageOf }) => {
  it("release all handles, however they end", async () => {
    const storage = storageOf();
    const before = watching();
    const log = await storage.open();
    const sessions = await Promise.all(["a", "b", "c"].map(async (id) => log.create(id, "{}")));
    const stops = sessions.flatMap((session) => [
      session.watch(() => undefined),
      session.watch(() => undefined),
    ]);
    for (const session of sessions) await appendBodies(session, "{}");
    for (const stop of stops.slice(0, 3)) stop();
    for (const stop of stops.slice(0, 3)) stop();
    await log.close();
    for (const stop of stops) stop();
    expect(watching()).toBe(before);
    await storage.dispose();
  });

  it("can be started and stopped repeatedly", async () => {
    const storage = storageOf();
    const session = await (await storage.open()).create("a", "{}");
    const before = watching();
    for (let round = 0; round < 200; round += 1) session.watch(() => undefined)();
    expect(watching()).toBe(before);
    await storage.dispose();
  });
});

/** The number of files and folders that this process watches, on Linux. */
function watchedPaths(): number {
  const infos = readdirSync("/proc/self/fdinfo").map((fd) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${fd}`, "utf8");
    } catch {
      return "";
    }
  });
  return infos
    .join("\n")
    .split("\n")
    .filter((line) => line.startsWith("inotify")).length;
}

/** Relaxed logs, since these tests do not concern the disk. */
const quickStores = [{ name: "sqlite", storageOf: () => sqliteStorage({ durability: "relaxed" }) }];

describe.each(quickStores)("1,000 watched sessions of a $name log", ({ storageOf }) => {
  afterEach(() => void vi.restoreAllMocks());

  it("share one timer and one watcher, and an append calls only the listener of its session", async () => {
    const storage = storageOf();
    const [log, other] = [await storage.open(), await storage.open()];
    const ids = Array.from({ length: 1_000 }, (_, index) => `session ${index}`);
    const sessions = await Promise.all(ids.map(async (id) => log.create(id, "{}")));
    const before = watchedPaths();
    const timers = vi.spyOn(globalThis, "setInterval");
    const called = new Map<string, number>();
    const appended = Promise.withResolvers<void>();
    const stops = sessions.map((session) =>
      session.watch(() => {
        called.set(session.id, (called.get(session.id) ?? 0) + 1);
        if (session.id === "session 7" && called.get(session.id) === 2) appended.resolve();
      }),
    );
    await Promise.resolve();
    expect(timers).toHaveBeenCalledTimes(1);
    expect(watchedPaths() - before).toBeLessThanOrEqual(1);
    // A watch starts with a call, since records may have been added before it.
    expect([...called.values()]).toEqual(ids.map(() => 1));
    const elsewhere = await other.open("session 7");
    if (elsewhere !== undefined) await appendBodies(elsewhere, "{}");
    await appended.promise;
    expect([...called].filter(([, calls]) => calls > 1).map(([id]) => id)).toEqual(["session 7"]);
    for (const stop of stops) stop();
    // Handles are closed after the current callback.
    await setImmediate();
    expect(watchedPaths()).toBe(before);
    await storage.dispose();
  });
});

describe("a watch without a source of changes", () => {
  afterEach(() => void vi.useRealTimers());

  it("checks some sessions each second, and all of them in turn", async () => {
    vi.useFakeTimers();
    const looks: (readonly string[])[] = [];
    const heads = new Map(["a", "b", "c", "d", "e"].map((key) => [key, "0"]));
    const watch = new HeadWatch({
      keysPerPoll: 2,
      headsOf: (keys) => {
        looks.push(keys);
        return heads;
      },
    });
    const called: string[] = [];
    for (const key of heads.keys()) watch.add(key, () => called.push(key));
    await vi.advanceTimersByTimeAsync(0);
    expect(called.splice(0)).toEqual(["a", "b", "c", "d", "e"]);
    looks.length = 0;
    heads.set("d", "1");
    await vi.advanceTimersByTimeAsync(4_000);
    expect(looks).toEqual([["a", "b"], ["c", "d"], ["e"], ["a", "b"]]);
    expect(called).toEqual(["d"]);
    watch.close();
    await vi.advanceTimersByTimeAsync(4_000);
    expect(looks).toHaveLength(4);
  });

  it("continues after a check that failed synchronously or asynchronously", async () => {
    vi.useFakeTimers();
    const failures = [() => Promise.reject(new Error("a fault of this test")), (): never => failHere()];
    const failHere = (): never => {
      throw new Error("a fault of this test");
    };
    let head = "0";
    const watch = new HeadWatch({
      headsOf: (keys) => failures.pop()?.() ?? new Map(keys.map((key) => [key, head])),
    });
    let calls = 0;
    watch.add("a", () => (calls += 1));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(calls).toBe(1);
    head = "1";
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls).toBe(2);
    watch.close();
  });
});
