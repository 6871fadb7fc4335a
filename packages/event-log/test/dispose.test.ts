import { describe, expect, expectTypeOf, it } from "vitest";
import { TemporaryDirectory } from "@moora/testbed/stores";
import { memoryLog, type DisposableLog, type EventLog } from "../src/index.ts";
import { jsonlLog } from "../src/jsonl.ts";
import { sqliteLog } from "../src/sqlite.ts";

describe("a log in a block of `await using`", () => {
  it.each<[string, (directory: TemporaryDirectory) => DisposableLog]>([
    ["jsonl", ({ path }) => jsonlLog(path)],
    ["sqlite", (directory) => sqliteLog(directory.file("log.db"))],
  ])("is closed at its end: %s", async (_, open) => {
    using directory = new TemporaryDirectory();
    let closed: EventLog;
    {
      await using log = open(directory);
      await log.create("ada", "{}");
      closed = log;
    }
    await expect(async () => closed.list()).rejects.toThrow(
      "The log is closed. Close the sessions of a log before the log.",
    );
    await using again = open(directory);
    expect(await again.list()).toEqual([{ id: "ada", head: 0, header: "{}" }]);
  });

  it("ends its watches at its end: memory", async () => {
    let calls = 0;
    const storage = { log: memoryLog() };
    {
      await using log = storage.log;
      const session = await log.create("ada", "{}");
      session.watch(() => (calls += 1));
      await Promise.resolve();
    }
    const before = calls;
    await storage.log.remove("ada");
    await Promise.resolve();
    expect(calls).toBe(before);
  });

  it("needs a log that is disposable; the port does not require it", () => {
    expectTypeOf<DisposableLog>().toExtend<EventLog>();
    expectTypeOf<EventLog>().not.toExtend<AsyncDisposable>();
    expectTypeOf<ReturnType<typeof memoryLog>>().toExtend<AsyncDisposable>();
  });
});
