import { chainStart, LogError, type LogRecord } from "@moora/event-log";
import {
  bodies,
  checkInterleaving,
  appendBodies,
  interleavings,
  recordsAfter,
  seededRandom,
} from "@moora/event-log/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresLog } from "../src/index.ts";
import { type Cut, CuttingProxy } from "./cutting-proxy.ts";
import { failOnDriverWarnings } from "@moora/testbed/postgres/driver-warnings";
import { poolOn, PostgresServer, urlAt } from "@moora/testbed/postgres/server";
import { postgresStorage } from "@moora/testbed/postgres/storage";
import { isProof, sample } from "@moora/testbed/sample";

let server: PostgresServer;

beforeAll(failOnDriverWarnings);
beforeAll(async () => {
  server = await PostgresServer.start();
});

afterAll(async () => server[Symbol.asyncDispose]());

/** Appends records one by one through cut connections. Returns the acknowledged ones. */
async function appendThroughCuts(id: string, texts: readonly string[], cutNext: () => Cut) {
  await using proxy = await CuttingProxy.before(server.port);
  const log = postgresLog(urlAt(proxy.port), { busyTimeoutMs: 60_000 });
  const session = await log.create(id, "{}");
  proxy.cutNext = cutNext;
  const records = recordsAfter(chainStart("{}"), ...texts);
  for (const record of records) await session.append(record.seq - 1, [record]);
  const found = await session.read();
  await log.close();
  return { records, found, cuts: proxy.cuts };
}

describe("(B11) a connection that is cut in the middle of appends", () => {
  it("stores each of 1,000 records once, and resolves every append", async () => {
    const random = seededRandom(11);
    const cuts = ["before", "during", "after"] as const;
    const cutNext = (): Cut => (random() < 0.25 ? (cuts[Math.floor(random() * 3)] ?? "never") : "never");
    const { records, found, cuts: count } = await appendThroughCuts("cut", bodies(1_000), cutNext);
    expect(found).toEqual(records);
    expect(count).toBeGreaterThan(200);
  });

  it.each(["before", "during", "after"] as const)(
    "%s the server receives it: no record is lost or repeated",
    async (cut) => {
      let asked = 0;
      const everySecond = (): Cut => ((asked += 1) % 2 === 1 ? cut : "never");
      const { records, found, cuts } = await appendThroughCuts(`cut ${cut}`, bodies(20), everySecond);
      expect(found).toEqual(records);
      expect(cuts).toBeGreaterThanOrEqual(10);
    },
  );

  it("distinguishes two writers whose connections are cut: each record belongs to the writer it was acknowledged to", async () => {
    const random = seededRandom(12);
    await using proxy = await CuttingProxy.before(server.port);
    const logs = [1, 2].map(() => postgresLog(urlAt(proxy.port), { busyTimeoutMs: 60_000 }));
    await logs[0]?.create("two", "{}");
    proxy.cutNext = () => (random() < 0.5 ? "after" : "never");
    const acknowledged: LogRecord[] = [];
    const refusals: unknown[] = [];
    const write = async (log: (typeof logs)[number], name: string): Promise<void> => {
      const session = await log.open("two");
      for (let index = 0; index < 60; index += 1) {
        const before = (await session?.read())?.at(-1) ?? chainStart("{}");
        const [record] = recordsAfter(before, JSON.stringify({ name, index }));
        const [outcome] = await Promise.allSettled([
          session?.append(before.seq, record === undefined ? [] : [record]),
        ]);
        if (outcome.status === "fulfilled" && record !== undefined) acknowledged.push(record);
        if (outcome.status === "rejected") refusals.push(outcome.reason);
      }
    };
    await Promise.all(logs.map(async (log, index) => write(log, `writer ${index}`)));
    expect(refusals.filter((reason) => !(reason instanceof LogError && reason.code === "Conflict"))).toEqual(
      [],
    );
    const found = await (await logs[0]?.open("two"))?.read();
    expect(found).toEqual(acknowledged.toSorted((one, other) => one.seq - other.seq));
    for (const log of logs) await log.close();
  });

  it("is not LogBusy, which would mean that nothing was done, when the tables are locked", async () => {
    await using proxy = await CuttingProxy.before(server.port);
    const log = postgresLog(urlAt(proxy.port), { busyTimeoutMs: 500 });
    const session = await log.create("cut and locked", "{}");
    const admin = poolOn(server.url, 1);
    await admin.query("BEGIN; LOCK TABLE moora_records IN ACCESS EXCLUSIVE MODE");
    proxy.cutNext = () => "during";
    const records = recordsAfter(chainStart("{}"), "{}");
    await expect(session.append(0, records)).rejects.toMatchObject({ code: "LogWrite" });
    await admin.query("ROLLBACK");
    expect([[], records]).toContainEqual(await session.read());
    await admin.end();
    await log.close();
  });

  it("is given up when the server does not respond; the record may be stored, at most once", async () => {
    await using proxy = await CuttingProxy.before(server.port);
    const log = postgresLog(urlAt(proxy.port), { busyTimeoutMs: 500, statementTimeoutMs: 700 });
    const session = await log.create("hung", "{}");
    proxy.cutNext = () => "hang";
    const records = recordsAfter(chainStart("{}"), "{}");
    await expect(session.append(0, records)).rejects.toMatchObject({ code: "LogWrite" });
    proxy.cutNext = () => "never";
    expect([[], records]).toContainEqual(await session.read());
    await log.close();
  });
});

describe("a server that restarts", () => {
  it("is waited for, and has every acknowledged record", async () => {
    const log = postgresLog(server.url, { busyTimeoutMs: 60_000 });
    const session = await log.create("restarted", "{}");
    const records = recordsAfter(chainStart("{}"), ...bodies(60));
    const restarts = [20, 40];
    for (const record of records) {
      const restarting = restarts.includes(record.seq) ? server.restart() : undefined;
      await session.append(record.seq - 1, [record]);
      await restarting;
    }
    expect(await session.read()).toEqual(records);
    await log.close();
  });

  it("does not affect a process with idle connections", async () => {
    const log = postgresLog(server.url);
    const session = await log.create("idle", "{}");
    await Promise.all([session.head(), session.head(), session.head()]);
    await server.restart();
    expect(await appendBodies(session, "{}")).toEqual(await session.read());
    await log.close();
  });

  it("notifies a watch again that existed before", async () => {
    const [log, other] = [postgresLog(server.url), postgresLog(server.url)];
    const session = await log.create("watched through a restart", "{}");
    const elsewhere = await other.open("watched through a restart");
    const { promise, resolve } = Promise.withResolvers<void>();
    let known = 0;
    const look = async (): Promise<void> => {
      if ((await session.head()) > known) resolve();
    };
    const looks: Promise<void>[] = [];
    const stop = session.watch(() => looks.push(look()));
    known = 1;
    await appendBodies(session, "{}");
    await server.restart();
    await elsewhere?.append(1, recordsAfter((await session.read()).at(-1) ?? chainStart("{}"), "[]"));
    await promise;
    expect(await session.head()).toBe(2);
    stop();
    await Promise.all(looks);
    await log.close();
    await other.close();
  });
});

/** Runs a file of `children/` to its end and returns its output. */
async function child(file: string, ...args: readonly string[]): Promise<readonly string[]> {
  const spawned = spawn(
    process.execPath,
    ["--conditions=@moora/source", join(import.meta.dirname, "children", file), ...args],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const [output, [code]] = await Promise.all([text(spawned.stdout), once(spawned, "exit")]);
  expect(code).toBe(0);
  return output.split("\n").slice(0, -1);
}

describe("child processes", () => {
  it("(D01) that each append 1,000 records: one winner for each number, no record lost or repeated", async () => {
    const log = postgresLog(server.url);
    const session = await log.create("a", "{}");
    const output = await Promise.all(
      ["one", "other"].map(async (name) => child("writer.ts", server.url, name, "1000")),
    );
    const found = (await session.read()).map(({ seq, body }) => `${seq} ${body}`);
    expect(found).toHaveLength(2_000);
    expect(output.flat()).toHaveLength(2_000);
    expect(new Set(output.flat())).toEqual(new Set(found));
    await log.close();
  });

  it("(V13) that only watch exit by themselves", async () => {
    expect(await child("watcher.ts", server.url)).toEqual([]);
  });
});

describe("the interleavings of two writers with six steps each", () => {
  it("result in the expected log", async () => {
    const pool = poolOn(server.url);
    const storage = postgresStorage(pool, server.url);
    const orders = sample([...interleavings(6, 6)], 14);
    for (const [index, order] of orders.entries()) await checkInterleaving(storage, `order ${index}`, order);
    expect(orders).toHaveLength(isProof ? 924 : 66);
    await storage.dispose();
    await pool.end();
  });
});
