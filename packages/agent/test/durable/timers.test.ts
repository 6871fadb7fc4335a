import { LogError, memoryLog } from "@moora/event-log";
import { answers, callsTools, fails, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  defineAgent,
  openSession,
  startSession,
  type Agent,
  type AgentConfigChange,
  type Session,
} from "../../src/index.ts";
import { toolOf } from "../support.ts";
import { onAppend } from "@moora/testbed/durable/on-append";

/** A clock that knows how many of the timers that wait keep the process alive. */
class CountingClock extends TestClock {
  keepingAlive = 0;

  override after(ms: number, callback: () => void, { keepsAlive = true } = {}): () => void {
    if (!keepsAlive) return super.after(ms, callback);
    this.keepingAlive += 1;
    let isOver = false;
    const end = (): void => {
      if (!isOver) this.keepingAlive -= 1;
      isOver = true;
    };
    const cancel = super.after(ms, () => {
      end();
      callback();
    });
    return () => {
      end();
      cancel();
    };
  }
}

/** A session in a log whose appends fail while `isBroken` returns true. */
async function opened(script: MockScript, config: AgentConfigChange = {}, isBroken = () => false) {
  const clock = new CountingClock();
  const log = onAppend(memoryLog(), () => {
    if (isBroken()) throw new LogError("LogBusy", "The log is locked by a backup.");
  });
  const agent = defineAgent({ llm: new MockLlmCaller(script), tools: [toolOf("pay")], config });
  const session = await openSession(agent, { log, id: "ada", clock, onError: () => undefined });
  return { session, clock };
}

describe("a session that is not closed", () => {
  it("does not keep the process alive for an open question, its expiry, reminder and escalation", async () => {
    const { session, clock } = await opened([callsTools([{ name: "pay" }])], {
      approval: { policy: "always", expiresAfterMs: 9_000, remindAfterMs: 500, escalateAfterMs: 800 },
    });
    const withoutQuestion = clock.waiting;
    await session.send("Pay.");
    await session.settled();
    expect(session.questions()).toHaveLength(1);
    expect(clock.waiting - withoutQuestion).toBe(3);
    expect(clock.keepingAlive).toBe(0);
    await session.close();
  });

  it("keeps the process alive while a model call waits to be made again", async () => {
    const { session, clock } = await opened([fails("server")]);
    await session.send("Hello?");
    await untilPasses(() => expect(clock.keepingAlive).toBe(1));
    await session.close();
    expect(clock.waiting).toBe(0);
  });

  it("keeps the process alive while the log cannot be written", async () => {
    let isBroken = false;
    const script = (): ReturnType<typeof answers> => {
      isBroken = true;
      return answers("Here.");
    };
    const { session, clock } = await opened(script, {}, () => isBroken);
    await session.send("Hello?");
    await untilPasses(() => expect(clock.keepingAlive).toBe(1));
    isBroken = false;
    await session.close();
    expect(clock.waiting).toBe(0);
  });
});

describe("a session that is closed by a listener of the first of two questions", () => {
  it.each([0, 1_000])(
    "does not ask the second one, and leaves no timer, with a grace of %i ms",
    async (graceMs) => {
      const { session, clock } = await opened([callsTools([{ name: "pay" }, { name: "pay" }])], {
        approval: { policy: "always", expiresAfterMs: 9_000 },
      });
      const asked: string[] = [];
      const closed = new Promise<void>((resolve) => {
        session.onEvent((event) => {
          if (event.type !== "ApprovalRequested") return;
          asked.push(event.toolCallId);
          resolve(session.close({ graceMs }));
        });
      });
      await session.send("Pay both.");
      await closed;
      await session.settled();
      expect(asked).toEqual(["call_1"]);
      expect(clock.waiting).toBe(0);
    },
  );
});

const kinds = {
  "in memory": async (agent: Agent, clock: TestClock): Promise<Session> => startSession(agent, { clock }),
  "in a log": (agent: Agent, clock: TestClock): Promise<Session> =>
    openSession(agent, { log: memoryLog(), id: "ada", clock }),
};

describe.each(Object.entries(kinds))("a session %s that is closed with a grace", (_, open) => {
  /** A session with a tool that ends when the test lets it. */
  async function paying() {
    const clock = new TestClock();
    const work = Promise.withResolvers<string>();
    const started = Promise.withResolvers<AbortSignal>();
    const pay = toolOf("pay", (_args, { signal }) => {
      started.resolve(signal);
      return work.promise;
    });
    const llm = new MockLlmCaller([callsTools([{ name: "pay" }])]);
    const session = await open(defineAgent({ llm, tools: [pay] }), clock);
    return { clock, work, started: started.promise, session };
  }

  it.each(["StateStarted", "ToolCallStarted"] as const)(
    "by a listener of the %s of a call lets the call end",
    async (type) => {
      const { clock, work, started, session } = await paying();
      const closed = Promise.withResolvers<void>();
      session.onEvent((event) => {
        if (event.type !== type || (event.type === "StateStarted" && event.state !== "Acting")) return;
        closed.resolve(session.close({ graceMs: 1_000 }));
      });
      await session.send("Pay.");
      expect((await started).aborted).toBe(false);
      work.resolve("paid");
      await closed.promise;
      expect(session.current().toolCalls["call_1"]?.result).toMatchObject({ content: "paid" });
      expect(clock.waiting).toBe(0);
    },
  );

  it("aborts a call that does not end within it, and starts nothing meanwhile", async () => {
    const { clock, started, session } = await paying();
    await session.send("Pay.");
    const signal = await started;
    const closed = session.close({ graceMs: 1_000 });
    clock.advance(999);
    expect(signal.aborted).toBe(false);
    clock.advance(1);
    await closed;
    expect(signal.reason).toMatchObject({ name: "ShutdownError" });
    expect(session.current().toolCalls["call_1"]?.result).toBeNull();
  });

  it("ends the wait with a second close", async () => {
    const { started, session } = await paying();
    await session.send("Pay.");
    const signal = await started;
    const closed = session.close({ graceMs: Infinity });
    await session.close();
    await closed;
    expect(signal.aborted).toBe(true);
  });

  it("refuses a grace that is not a number of milliseconds", async () => {
    const { session } = await paying();
    await expect(session.close({ graceMs: -1 })).rejects.toMatchObject({
      path: "options.graceMs",
      message: expect.stringMatching(/graceMs: must be .*-1/),
    });
    await session.close();
  });
});

describe("a session that is closed with a grace of any length", () => {
  it.each([2 ** 31, 1e12, Infinity])("of %s ms waits until its tool has ended", async (graceMs) => {
    const clock = new TestClock();
    const started = Promise.withResolvers<void>();
    const work = Promise.withResolvers<string>();
    const pay = toolOf("pay", () => {
      started.resolve();
      return work.promise;
    });
    const agent = defineAgent({ llm: new MockLlmCaller([callsTools([{ name: "pay" }])]), tools: [pay] });
    const session = await openSession(agent, { log: memoryLog(), id: "ada", clock });
    await session.send("Pay.");
    await started.promise;
    const closed = session.close({ graceMs });
    // A longer timer of the platform would be due at once.
    expect(clock.longest).toBeLessThan(2 ** 31);
    work.resolve("paid");
    await closed;
    expect(session.current().toolCalls["call_1"]?.result).toMatchObject({ isSuccess: true, content: "paid" });
    expect(clock.waiting).toBe(0);
  });
});
