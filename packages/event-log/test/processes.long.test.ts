import { describe, expect, it } from "vitest";
import type { EventLog } from "../src/index.ts";
import { sqliteLog } from "../src/sqlite.ts";
import { appendBodies } from "../src/testing/index.ts";
import { Child } from "./child.ts";
import { TemporaryDirectory } from "@moora/testbed/stores";

const stores: readonly (readonly [
  string,
  (temporary: TemporaryDirectory) => string,
  (path: string) => EventLog,
])[] = [["sqlite", (temporary) => temporary.file("log.db"), (path) => sqliteLog(path)]];

describe.each(stores)("two processes on one session of a %s log", (store, pathIn, open) => {
  it("(D01) that each append 1,000 records: one winner for each number, no record lost or repeated", async () => {
    using temporary = new TemporaryDirectory();
    const path = pathIn(temporary);
    const log = open(path);
    const session = await log.create("a", "{}");
    const writers = ["one", "other"].map((name) => new Child("writer.ts", store, path, name, "1000"));
    await Promise.all(writers.map(async (writer) => writer.waitForLines(1)));
    for (const writer of writers) writer.send("go");
    await Promise.all(writers.map(async (writer) => writer.ended()));
    const acknowledged = writers.flatMap(({ lines }) =>
      lines.filter((line) => line.startsWith("acknowledged")),
    );
    const found = (await session.read()).map(({ seq, body }) => `acknowledged ${seq} ${body}`);
    expect(found).toHaveLength(2_000);
    expect(new Set(acknowledged)).toEqual(new Set(found));
    expect(acknowledged).toHaveLength(2_000);
    await log.close();
  });

  it("(C01) of which one is killed while it appends: all acknowledged records are stored, and at most one more", async () => {
    using temporary = new TemporaryDirectory();
    const path = pathIn(temporary);
    const log = open(path);
    const session = await log.create("a", "{}");
    for (const [round, lines] of [40, 60, 25].entries()) {
      const before = await session.head();
      const writer = new Child("writer.ts", store, path, `round ${round}`, "100000");
      await writer.waitForLines(1);
      writer.send("go");
      await writer.waitForLines(lines);
      writer.kill();
      await writer.ended();
      const acknowledged = writer.lines.filter((line) => line.startsWith("acknowledged"));
      const mine = (await session.read()).filter(({ body }) => body.includes(`round ${round}`));
      const found = mine.map(({ seq, body }) => `acknowledged ${seq} ${body}`);
      expect(found.slice(0, acknowledged.length)).toEqual(acknowledged);
      expect(found.length - acknowledged.length).toBeLessThanOrEqual(1);
      expect(await session.head()).toBe(before + found.length);
      await appendBodies(session, '{"by":"the survivor"}');
    }
    await log.close();
  });

  it("that only watches exits by itself", async () => {
    using temporary = new TemporaryDirectory();
    const watcher = new Child("watcher.ts", store, pathIn(temporary));
    await watcher.ended();
    expect(watcher.exitCode).toBe(0);
  });
});
