import { memoryLog, MemoryStorage, LogError, type EventLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, openSession } from "../../src/index.ts";
import { quiet } from "@moora/testbed/durable/drive";
import { storageOf, storeNames } from "@moora/testbed/durable/places";
import { TestClock } from "@moora/testbed/test-clock";

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
    const session = await openSession(agent, { log: counted, id: "ada", clock });
    await quiet(session);
    counts.appends = 0;
    counts.reads = 0;
    for (const question of ["One?", "Two?", "Three?"]) await session.ask(question);
    await quiet(session);
    expect(counts.appends).toBeGreaterThan(5);
    expect(counts.reads).toBe(0);

    const poster = await openSession(agent, { log: storage.open(), id: "ada", clock, access: "post" });
    await poster.send("Four?");
    while (session.current().messages.length < 8) await quiet(session);
    expect(session.current().messages.at(-2)?.content).toBe("Four?");
    await Promise.all([session.close(), poster.close()]);
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
    const session = await openSession(agent, { log: counted, id: "ada", clock: new TestClock() });
    fails = true;
    await session.ask("One?");
    await quiet(session);
    counts.reads = 0;
    await session.ask("Two?");
    await quiet(session);
    expect(counts.reads).toBe(0);
    await session.close();
  });
});

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
      const owner = await openSession(agent, { log: memoryLog(storage), id: "ada", clock });
      const log = afterNextRead(
        memoryLog(storage),
        () => void owner.configure({ systemPrompt: "Be short." }),
      );
      const other = await openSession(agent, { log, id: "ada", clock, access });
      await quiet(owner);
      await quiet(other);
      expect(other.info().seq).toBe(owner.info().seq);
      expect(other.current().config.systemPrompt).toBe("Be short.");
      await Promise.all([other.close(), owner.close()]);
    },
  );
});

describe("a message whose append was reported as failed, and yet is in the log", () => {
  it("becomes part of the session, and is answered, without another message", async () => {
    const log = memoryLog();
    let fails = false;
    const unconfirmed = withSessions(log, (session) => ({
      async append(expectedSeq, records) {
        await session.append(expectedSeq, records);
        if (!fails) return;
        fails = false;
        throw new LogError("LogBusy", "a fault of this test");
      },
    }));
    const session = await openSession(agent, { log: unconfirmed, id: "ada", clock: new TestClock() });
    fails = true;
    await expect(session.send("One?")).rejects.toThrow("a fault of this test");
    await quiet(session);
    expect(session.current().messages).toMatchObject([{ content: "One?" }, { content: "Here." }]);
    await session.close();
  });
});
