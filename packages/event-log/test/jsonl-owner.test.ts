import { once } from "node:events";
import { readdirSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { jsonlLog } from "../src/jsonl.ts";
import { appendBodies, bodies } from "../src/testing/index.ts";
import { Child } from "@moora/testbed/child";
import { pathOf, TemporaryDirectory } from "@moora/testbed/stores";

const busy = (path: string) =>
  expect.objectContaining({ code: "LogBusy", message: expect.stringContaining(path) });

describe("a folder of JSONL files has one owner", () => {
  it("in one process: a second log is refused until the first is closed", async () => {
    using temporary = new TemporaryDirectory();
    const log = jsonlLog(temporary.path);
    const records = await appendBodies(await log.create("a", "{}"), ...bodies(3));
    expect(() => jsonlLog(temporary.path)).toThrow(busy(temporary.path));
    await log.close();
    await using again = jsonlLog(temporary.path);
    expect(await (await again.open("a"))?.read()).toEqual(records);
  });

  it("of several processes, until that one is killed: all acknowledged records are there, and at most one more", async () => {
    using temporary = new TemporaryDirectory();
    const log = jsonlLog(temporary.path);
    await log.create("a", "{}");
    await log.close();
    const writer = new Child(
      `${import.meta.dirname}/children/writer.ts`,
      "jsonl",
      temporary.path,
      "writer",
      "100000",
    );
    await writer.printed(/ready/);
    expect(() => jsonlLog(temporary.path)).toThrow(busy(temporary.path));
    writer.write("go");
    await writer.printed(/(?:.*\n){50}/);
    await writer.kill();
    await using again = jsonlLog(temporary.path, { onNotice: () => undefined });
    const found = (await (await again.open("a"))?.read()) ?? [];
    const acknowledged = writer.lines.slice(1);
    expect(found.slice(0, acknowledged.length).map(({ seq, body }) => `acknowledged ${seq} ${body}`)).toEqual(
      acknowledged,
    );
    expect(found.length - acknowledged.length).toBeLessThanOrEqual(1);
  });

  it("also of the threads of a process", async () => {
    using temporary = new TemporaryDirectory();
    await using log = jsonlLog(temporary.path);
    await log.create("a", "{}");
    const module = JSON.stringify(new URL("../src/jsonl.ts", import.meta.url).href);
    const program = `
      const { parentPort } = require("node:worker_threads");
      void import(${module}).then(({ jsonlLog }) => {
        try { jsonlLog(${JSON.stringify(temporary.path)}); parentPort.postMessage("opened"); }
        catch (error) { parentPort.postMessage(error.code); }
      });`;
    const worker = new Worker(program, { eval: true });
    expect(await once(worker, "message")).toEqual(["LogBusy"]);
    await worker.terminate();
  });
});

describe("the files of a JSONL log", () => {
  it("are the lock, and up to three for each session, which its removal removes", async () => {
    using temporary = new TemporaryDirectory();
    await using log = jsonlLog(temporary.path);
    const session = await log.create("a", "{}");
    await session.lease({ owner: "x", now: 0, ttlMs: 10 });
    const name = pathOf("", "a").replace(/jsonl$/, "");
    expect(readdirSync(temporary.path).toSorted()).toEqual(
      [`${name}jsonl`, `${name}lease`, ".locks"].toSorted(),
    );
    await log.remove("a");
    expect(readdirSync(temporary.path)).toEqual([".locks"]);
  });
});
