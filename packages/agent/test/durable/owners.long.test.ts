import { hostname } from "node:os";
import { memoryLog, type EventLog } from "@moora/event-log";
import { sqliteLog } from "@moora/event-log/sqlite";
import { answers, hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, defineTool, openSession, type Agent, type OpenOptions } from "../../src/index.ts";
import { failureOf } from "../support.ts";
import { HeardErrors } from "@moora/testbed/durable/errors";
import { Place } from "@moora/testbed/durable/places";
import { script } from "@moora/testbed/durable/child";
import { TestClock } from "@moora/testbed/test-clock";

const talker = (): Agent => defineAgent({ llm: new MockLlmCaller(() => answers("Hi.")) });

/** The lease that is in force. */
const leaseIn = async (log: EventLog): Promise<string> => {
  const session = await log.open("ada");
  const lease = await session?.lease({ owner: "other", now: 0, ttlMs: 1 });
  return lease?.owner ?? "";
};

/** A log with a session whose lease is held, for an hour by the clock of the machine, by this holder. */
async function heldBy(holder: string): Promise<EventLog> {
  const log = memoryLog();
  await (await openSession(talker(), { log, id: "ada" })).close();
  const session = await log.open("ada");
  await session?.lease({ owner: holder, now: Date.now(), ttlMs: 3_600_000 });
  return log;
}

/** How a lease of this process looks, and the parts of its fingerprint. */
async function ownHolder() {
  const log = memoryLog();
  await using session = await openSession(talker(), { log, id: "ada" });
  const [owner = "", fingerprint = "", id = ""] = (await leaseIn(log)).split("#");
  const [pid = "", start = "", machine = ""] = fingerprint.split("/");
  expect(session.info().owner).toBe(owner);
  return { owner, pid, start, machine, id };
}

describe("a process that was killed", () => {
  it.each([undefined, "worker 1"])(
    "does not keep the next one of its machine from continuing at once, whatever its name (owner %s)",
    async (owner) => {
      using place = new Place();
      await using killed = script("hang", place.path);
      await killed.printed(/working/);
      await killed.kill();
      await using log = sqliteLog(place.file("log.db"));
      const runs: number[] = [];
      const work = defineTool({
        name: "work",
        description: "Works.",
        input: { type: "object" },
        replay: "keyed",
        execute: (_, { attempt }) => (runs.push(attempt), "worked"),
      });
      const agent = defineAgent({ llm: new MockLlmCaller(() => answers("Done.")), tools: [work] });
      await using session = await openSession(agent, {
        log,
        id: "ada",
        ...(owner === undefined ? {} : { owner }),
      });
      expect((await session.running())?.text).toBe("Done.");
      expect(runs).toEqual([2]);
      await session.close();
    },
  );

  it("is known by its host name, process id and start", async () => {
    using place = new Place();
    await using child = script("answer", place.path);
    expect(await child.ended()).toBe(0);
    const [, owner = ""] = /owner (.*)/.exec(child.output) ?? [];
    expect(owner).toMatch(/^.+, process \d+, started \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(owner.startsWith(`${hostname()}, process `)).toBe(true);
  });
});

describe("a lease", () => {
  it("of a process whose id was given to another one is not waited for", async () => {
    const { pid, start, machine } = await ownHolder();
    for (const living of [pid, process.ppid]) {
      const log = await heldBy(`someone#${living}/${start}0/${machine}#lease_1`);
      await using session = await openSession(talker(), { log, id: "ada" });
      expect(session.info().access).toBe("run");
    }
  });

  it("of a process of another machine or container is waited for, though its id is free here", async () => {
    const { start, machine } = await ownHolder();
    const free = 4_194_000;
    const here = await heldBy(`someone#${free}/${start}/${machine}#lease_1`);
    await (await openSession(talker(), { log: here, id: "ada" })).close();
    const elsewhere = await heldBy(`someone#${free}/${start}/another#lease_1`);
    await expect(openSession(talker(), { log: elsewhere, id: "ada" })).rejects.toMatchObject({
      code: "SessionBusy",
      owner: "someone",
    });
  });

  it("of a holder that says nothing of its process is waited for", async () => {
    for (const holder of ["someone", "someone#lease_1", "someone##lease_1", "a#b#c/d#e#lease_1"]) {
      const log = await heldBy(holder);
      await expect(openSession(talker(), { log, id: "ada" })).rejects.toMatchObject({ code: "SessionBusy" });
    }
  });
});

describe("a session that is busy", () => {
  const clock = new TestClock(Date.UTC(2026, 0, 1));
  const open = (log: EventLog, options: Partial<OpenOptions> = {}) =>
    openSession(talker(), { log, id: "ada", clock, ...options });

  it("says by whom it is run, until when, and what to do", async () => {
    const log = memoryLog();
    await using session = await open(log, { owner: "host 1", leaseMs: 20_000 });
    expect(session.info().access).toBe("run");
    await clock.advanceAsync(2_000);
    const error = await failureOf(open(log, { owner: "host 2" }));
    expect(error).toMatchObject({
      name: "SessionError",
      code: "SessionBusy",
      owner: "host 1",
      until: Date.UTC(2026, 0, 1) + 20_000,
    });
    expect(String(error)).toMatch(/host 1.*2026-01-01T00:00:20\.000Z.*18000 ms.*waitMs.*"post".*"read"/);
  });

  it("is waited for with waitMs, until it is given up", async () => {
    const log = memoryLog();
    const first = await open(log, { owner: "host 1" });
    await first.ask("Hello?");
    const opening = open(log, { owner: "host 2", waitMs: 60_000 });
    await clock.advanceAsync(5_000);
    await first.ask("Are you there?");
    await first.close();
    await clock.advanceAsync(1_000);
    const second = await opening;
    // What was said while it was waited for is known.
    expect(second.current().messages).toHaveLength(4);
    expect(second.info()).toMatchObject({ access: "run", owner: "host 2" });
    await second.close();
    expect(clock.waiting).toBe(0);
  });

  it("is waited for with waitMs, until its lease has run out", async () => {
    const log = memoryLog();
    const silent = { now: () => clock.now(), after: () => () => undefined };
    const errors = new HeardErrors();
    const first = await open(log, {
      owner: "host 1",
      clock: silent,
      leaseMs: 10_000,
      onError: errors.onError,
    });
    const opening = open(log, { owner: "host 2", waitMs: 60_000 });
    await clock.advanceAsync(10_000);
    const second = await opening;
    expect(second.info().owner).toBe("host 2");
    await second.close();
    await first.close();
    expect(errors.codes).toEqual(["StaleWriter"]);
  });

  it("rejects when it still is busy after waitMs", async () => {
    const log = memoryLog();
    const first = await open(log, { owner: "host 1" });
    const failed = failureOf(open(log, { owner: "host 2", waitMs: 1_000 }));
    await clock.advanceAsync(1_000);
    expect(await failed).toMatchObject({ code: "SessionBusy", owner: "host 1" });
    await first.close();
    expect(clock.waiting).toBe(0);
  });
});

describe("two hosts of one name", () => {
  it("do not take the session from each other for ever: the later one keeps it", async () => {
    const log = memoryLog();
    const clock = new TestClock();
    const agent = (): Agent => defineAgent({ llm: new MockLlmCaller(() => hangs()) });
    const errors = new HeardErrors();
    const { onError } = errors;
    const open = () => openSession(agent(), { log, id: "ada", owner: "worker", clock, onError });
    const [one, two] = [await open(), await open()];
    await clock.advanceAsync(60_000);
    for (let minute = 0; minute < 10; minute += 1) await clock.advanceAsync(60_000);
    expect([one.info().access, two.info().access]).toEqual(["read", "run"]);
    await expect(one.send("Hello?")).rejects.toMatchObject({ code: "StaleWriter" });
    expect((await two.history()).filter(({ input }) => input.type === "session-opened")).toHaveLength(2);
    await Promise.all([one.close(), two.close()]);
    expect(errors.codes).toEqual(["StaleWriter"]);
  });
});

describe("leaseMs and waitMs", () => {
  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, JSON.parse('"30"'), JSON.parse("null")])(
    "of %s are refused with a typed error, before anything is written",
    async (ms) => {
      for (const name of ["leaseMs", "waitMs"] as const) {
        const log = memoryLog();
        const error = await failureOf(openSession(talker(), { log, id: "ada", [name]: ms }));
        expect(error).toMatchObject({ name: "SessionError", code: "InvalidOption" });
        expect(String(error)).toContain(`${name} must be a positive number of milliseconds, got ${ms}.`);
        expect(await log.list()).toEqual([]);
      }
    },
  );

  it.each([0.5, 1, 1e12, Number.MAX_VALUE / 2])("of %d work", async (leaseMs) => {
    const clock = new TestClock();
    const log = memoryLog();
    await using session = await openSession(talker(), { log, id: "ada", clock, leaseMs, owner: "host 1" });
    expect((await session.ask("Hello?")).text).toBe("Hi.");
    if (leaseMs < 2) return;
    await expect(openSession(talker(), { log, id: "ada", clock })).rejects.toMatchObject({
      code: "SessionBusy",
    });
  });
});
