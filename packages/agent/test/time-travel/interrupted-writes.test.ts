import { memoryLog, type EventLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  defineAgent,
  exportSession,
  forkSession,
  importSession,
  moveSession,
  openSession,
  openSharedSession,
  pruneSessions,
  systemClock,
  verifySession,
  type SessionErrorCode,
} from "../../src/index.ts";
import { ends, interrupted } from "../retention/interruptions.ts";
import { onAppend } from "@moora/testbed/durable/on-append";

const agent = defineAgent({ llm: new MockLlmCaller(() => answers("Hello.")) });

type Write = (log: EventLog, to: EventLog) => Promise<unknown>;

const writes = {
  "a fork": async (log, to) => {
    const seq = (await (await log.open("ada"))?.head()) ?? 0;
    return await forkSession(log, "ada", seq, { as: "copy", open: "reuse", to });
  },
  "an import": async (log, to) => await importSession(to, await exportSession(log, "ada"), "copy"),
} satisfies Readonly<Record<string, Write>>;

async function talked(): Promise<EventLog> {
  const log = memoryLog();
  const session = await openSession(agent, { log, id: "ada" });
  await session.ask("Hi.");
  await session.close();
  return log;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** How the writing of a session is known to be interrupted. */
const knowledge = {
  "by the age of its claim": () => void vi.setSystemTime(Date.now() + 31_000),
  "by the end of its process": async (log: EventLog) => {
    const session = await log.open("copy");
    const lease = await session?.currentLease();
    if (session === undefined || lease === undefined) return;
    const [prefix = "", empty = "", name = "", fingerprint = "", id = ""] = lease.owner.split("#");
    const [pid = "", , machine = ""] = fingerprint.split("/");
    const owner = [prefix, empty, name, `${pid}/1/${machine}`, id].join("#");
    await session.release(lease.owner);
    await session.lease({ owner, now: Date.now(), ttlMs: lease.until - Date.now() });
  },
} satisfies Readonly<Record<string, (log: EventLog) => unknown>>;

/** Writes until `left` writes were made. Returns the log unless the whole session was written. */
async function writeSome(log: EventLog, write: Write, left: number): Promise<EventLog | undefined> {
  const to = memoryLog();
  return (await ends(write(log, interrupted(to, { left })))) ? undefined : to;
}

/** Checks that every way to use the copy is refused with a code. */
async function checkIsRefused(log: EventLog, code: SessionErrorCode): Promise<void> {
  const ways: (() => Promise<unknown>)[] = [
    ...(["run", "post", "read"] as const).map(
      (access) => () => openSession(agent, { log, id: "copy", access }),
    ),
    () => openSharedSession(agent, { log, id: "copy", clock: systemClock }),
    () => exportSession(log, "copy"),
    () => forkSession(log, "copy", 0, { as: "other", open: "reuse" }),
    () => moveSession(log, "copy", memoryLog()),
  ];
  for (const way of ways) await expect(way()).rejects.toMatchObject({ code });
}

const prune = async (log: EventLog, dryRun = false) => await pruneSessions(log, { before: 0, dryRun });
const nothing = { pruned: [], kept: [], incomplete: [] };

async function checkIsComplete(log: EventLog): Promise<void> {
  expect(await verifySession(log, "copy")).toMatchObject({ ok: true });
  await using session = await openSession(agent, { log, id: "copy" });
  expect(session.current().messages.map(({ content }) => content)).toEqual(["Hi.", "Hello."]);
}

describe.each(Object.entries(writes))("%s that is interrupted at any write", (name, write) => {
  it.each(Object.entries(knowledge))(
    "is closed while it may continue, and incomplete when it is known to be interrupted, %s",
    async (_, learn) => {
      const log = await talked();
      let closed = 0;
      for (let left = 0; ; left += 1) {
        const to = await writeSome(log, write, left);
        if (to === undefined) break;
        if ((await to.open("copy")) === undefined) continue;
        await checkIsRefused(to, "MoveUnfinished");
        await expect(write(log, to)).rejects.toMatchObject({ code: "LogExists" });
        expect(await prune(to)).toEqual(nothing);
        await learn(to);
        await checkIsRefused(to, "SessionIncomplete");
        expect(await prune(to, true)).toEqual({ ...nothing, incomplete: ["copy"] });
        expect(await to.list()).toHaveLength(1);
        // A pruning or a repetition removes it.
        if (left % 2 === 0) {
          expect(await prune(to)).toEqual({ ...nothing, incomplete: ["copy"] });
          expect(await to.list()).toEqual([]);
        }
        await write(log, to);
        await checkIsComplete(to);
        expect(await prune(to)).toEqual(nothing);
        closed += 1;
      }
      expect(closed, name).toBeGreaterThan(1);
    },
  );

  it("does not stop a move of another session with its id, which replaces what is left", async () => {
    const log = await talked();
    for (let left = 0; ; left += 1) {
      const to = await writeSome(log, write, left);
      if (to === undefined) break;
      if ((await to.open("copy")) === undefined) continue;
      const from = memoryLog();
      await importSession(from, await exportSession(log, "ada"), "copy");
      await expect(moveSession(from, "copy", to)).rejects.toMatchObject({ code: "MoveUnfinished" });
      knowledge["by the age of its claim"]();
      expect(await moveSession(from, "copy", to)).toEqual(["copy"]);
      await checkIsComplete(to);
      expect(await from.list()).toEqual([]);
    }
  });
});

/** A log in which appends to the copy wait until they are let through. */
function slowLog(inner: EventLog) {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const log = onAppend(inner, async () => {
    reached.resolve();
    await opened.promise;
  });
  return { log, reached: reached.promise, open: () => opened.resolve() };
}

/** A fork whose first append waits until it is let through. */
async function slowFork() {
  const log = await talked();
  const to = memoryLog();
  const slow = slowLog(to);
  const writing = writes["a fork"](log, slow.log);
  await slow.reached;
  return { log, to, writing, open: slow.open };
}

describe("a writer", () => {
  it("keeps its copy however long an append takes", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
    const { log, to, writing, open } = await slowFork();
    await vi.advanceTimersByTimeAsync(200_000);
    expect(await prune(to)).toEqual(nothing);
    await expect(writes["a fork"](log, to)).rejects.toMatchObject({ code: "LogExists" });
    await checkIsRefused(to, "MoveUnfinished");
    open();
    await writing;
    await checkIsComplete(to);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("that was stopped for too long fails, and leaves the copy of the next one alone", async () => {
    const { log, to, writing, open } = await slowFork();
    vi.setSystemTime(Date.now() + 31_000);
    await writes["a fork"](log, to);
    open();
    await expect(writing).rejects.toMatchObject({ code: "LogRemoved" });
    await checkIsComplete(to);
  });

  it("that continues at the moment of a pruning keeps its copy", async () => {
    const { to, writing, open } = await slowFork();
    vi.setSystemTime(Date.now() + 31_000);
    // The pruning reads the lease before the writer renews it, and claims it after that.
    const late = withSessions(to, (session) => ({
      async currentLease() {
        const lease = await session.currentLease();
        if (lease === undefined) return undefined;
        const ttlMs = lease.until - Date.now() + 31_000;
        await session.lease({ owner: lease.owner, now: Date.now(), ttlMs });
        return lease;
      },
    }));
    expect(await prune(late)).toEqual(nothing);
    open();
    await writing;
    await checkIsComplete(to);
  });
});
