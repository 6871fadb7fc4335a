import { describe, expect, it } from "vitest";
import type { EventLog } from "../src/index.ts";
import { sqliteLog } from "../src/sqlite.ts";
import { appendBodies } from "../src/testing/index.ts";
import { Child } from "@moora/testbed/child";
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
    const writers = ["one", "other"].map(
      (name) => new Child(`${import.meta.dirname}/children/writer.ts`, store, path, name, "1000"),
    );
    await Promise.all(writers.map(async (writer) => writer.printed(/ready/)));
    for (const writer of writers) writer.write("go");
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
      const writer = new Child(
        `${import.meta.dirname}/children/writer.ts`,
        store,
        path,
        `round ${round}`,
        "100000",
      );
      await writer.printed(/ready/);
      writer.write("go");
      await writer.printed(new RegExp(`(?:.*\n){${lines}}`));
      await writer.kill();
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
    const watcher = new Child(`${import.meta.dirname}/children/watcher.ts`, store, pathIn(temporary));
    expect(await watcher.ended()).toBe(0);
  });
});
