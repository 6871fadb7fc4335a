import { memoryLog, MemoryStorage, LogError, type EventLog, type MaybePromise } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineAgent, defineTool, openSession } from "../../src/index.ts";
import { quiet } from "@moora/testbed/durable/drive";
import { storageOf, storeNames } from "@moora/testbed/durable/places";
import { TestClock, turn } from "@moora/testbed/test-clock";

const agent = defineAgent({ llm: new MockLlmCaller(() => answers("Here.")) });

/** A log that counts the appends of its handles, and how often they read it. */
function counting(log: EventLog) {
  const counts = { appends: 0, reads: 0 };
  const counted = withSessions(log, (session) => ({
    append(expectedSeq, records) {
      counts.appends += 1;
      return session.append(expectedSeq, records);
    },
    head() {
      counts.reads += 1;
      return session.head();
    },
    read(afterSeq) {
      counts.reads += 1;
      return session.read(afterSeq);
    },
  }));
  return { counted, counts };
}

describe.each(storeNames)("a session on %s", (name) => {
  it("does not read its log after its own appends, and finds those of others", async () => {
    await using storage = storageOf(name);
    const { counted, counts } = counting(storage.open());
    const clock = new TestClock();
    await using session = await openSession(agent, { log: counted, id: "ada", clock });
    await quiet(session);
    counts.appends = 0;
    counts.reads = 0;
    for (const question of ["One?", "Two?", "Three?"]) await session.ask(question);
    await quiet(session);
    expect(counts.appends).toBeGreaterThan(5);
    expect(counts.reads).toBe(0);

    await using poster = await openSession(agent, { log: storage.open(), id: "ada", clock, access: "post" });
    await poster.send("Four?");
    while (session.current().messages.length < 8) await quiet(session);
    expect(session.current().messages.at(-2)?.content).toBe("Four?");
  });
});

describe("a session whose log had to be opened again after a failed append", () => {
  it("does not read its log after its own appends either", async () => {
    let fails = false;
    const failing = withSessions(memoryLog(new MemoryStorage()), (session) => ({
      append(expectedSeq, records) {
        if (!fails) return session.append(expectedSeq, records);
        fails = false;
        throw new LogError("LogWrite", "a fault of this test");
      },
    }));
    const { counted, counts } = counting(failing);
    await using session = await openSession(agent, { log: counted, id: "ada", clock: new TestClock() });
    fails = true;
    await session.ask("One?");
    await quiet(session);
    counts.reads = 0;
    await session.ask("Two?");
    await quiet(session);
    expect(counts.reads).toBe(0);
  });
});

/** A log whose appends fail as this function decides, which is called with the types of the records. */
const failingLog = (
  log: EventLog,
  append: (types: readonly string[], write: () => void) => MaybePromise<void>,
) =>
  withSessions(log, (session) => ({
    append(expectedSeq, records) {
      const types = records.map(({ body }): string => JSON.parse(body).type);
      return append(types, () => void session.append(expectedSeq, records));
    },
  }));

const busy = (): LogError => new LogError("LogBusy", "a fault of this test");

/** A log whose sessions call this function as soon as their next read has its records. */
const afterNextRead = (log: EventLog, call: () => void): EventLog => {
  let isDue = true;
  return withSessions(log, (session) => ({
    read(afterSeq) {
      const records = session.read(afterSeq);
      if (isDue) call();
      isDue = false;
      return records;
    },
  }));
};

describe("a session that another process writes", () => {
  it.each(["read", "post"] as const)(
    "has also what was appended while it was opened to %s, between its read and its watch",
    async (access) => {
      const storage = new MemoryStorage();
      const clock = new TestClock();
      await using owner = await openSession(agent, { log: memoryLog(storage), id: "ada", clock });
      const log = afterNextRead(
        memoryLog(storage),
        () => void owner.configure({ systemPrompt: "Be short." }),
      );
      await using other = await openSession(agent, { log, id: "ada", clock, access });
      await quiet(owner);
      await quiet(other);
      expect(other.info().seq).toBe(owner.info().seq);
      expect(other.current().config.systemPrompt).toBe("Be short.");
    },
  );
});

describe("a message whose append was reported as failed, and yet is in the log", () => {
  it("becomes part of the session, and is answered, without another message", async () => {
    let fails = false;
    const log = failingLog(memoryLog(), (_types, write) => {
      write();
      if (!fails) return;
      fails = false;
      throw busy();
    });
    await using session = await openSession(agent, { log, id: "ada", clock: new TestClock() });
    fails = true;
    await expect(session.send("One?")).rejects.toThrow("a fault of this test");
    await quiet(session);
    expect(session.current().messages).toMatchObject([{ content: "One?" }, { content: "Here." }]);
  });
});

describe("a result whose append fails", () => {
  it("while the retry of another one is reported is tried again as well", async () => {
    const endB = Promise.withResolvers<string>();
    const clock = new TestClock();
    let results = 0;
    const log = failingLog(memoryLog(), async (types, write) => {
      if (!types.includes("tool-call-completed")) return write();
      results += 1;
      if (results === 1) throw busy();
      if (results === 2) {
        // The retry of the first result takes its time. The second one arrives meanwhile, and fails.
        endB.resolve("B");
        await turn();
        return write();
      }
      if (results === 3) throw busy();
      write();
    });
    const tool = (name: string, execute: () => unknown) =>
      defineTool({ name, description: name, input: z.object({}), execute });
    const twoTools = defineAgent({
      llm: new MockLlmCaller([
        callsTools([
          { name: "a", arguments: {} },
          { name: "b", arguments: {} },
        ]),
        answers("Both."),
      ]),
      tools: [tool("a", () => "A"), tool("b", () => endB.promise)],
    });
    await using session = await openSession(twoTools, { log, id: "ada", clock, onError: () => undefined });
    const run = session.ask("Do both.");
    for (let wait = 0; wait < 20; wait += 1) {
      await turn();
      clock.advance(1_000);
    }
    expect(results).toBeGreaterThan(3);
    expect((await run).text).toBe("Both.");
  });
});

describe("two appends that fail, one after the other, while a message of another process is applied", () => {
  it("do not end the session: the message is answered", async () => {
    const storage = new MemoryStorage();
    const clock = new TestClock();
    const appending = Promise.withResolvers<void>();
    const noted = Promise.withResolvers<void>();
    let appends: number | undefined;
    const log = failingLog(memoryLog(storage), (_types, write) => {
      if (appends === undefined) return write();
      appends += 1;
      if (appends === 1) {
        appending.resolve();
        return noted.promise.then(() => {
          throw busy();
        });
      }
      if (appends === 2) throw new LogError("LogWrite", "another fault of this test");
      write();
    });
    await using session = await openSession(agent, { log, id: "ada", clock, onError: () => undefined });
    await using poster = await openSession(agent, {
      log: memoryLog(storage),
      id: "ada",
      clock,
      access: "post",
    });
    appends = 0;
    await poster.send("One?");
    await appending.promise;
    const note = session.note("A note.");
    await turn();
    noted.resolve();
    await expect(note).rejects.toThrow("another fault of this test");
    for (let wait = 0; wait < 20; wait += 1) {
      await turn();
      clock.advance(1_000);
    }
    expect(session.info().access).toBe("run");
    expect(session.current().messages).toMatchObject([{ content: "One?" }, { content: "Here." }]);
  });
});
