import { LogError, memoryLog, MemoryStorage, type EventLog, type LogRecord } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import type { LlmCaller } from "@moora/llm";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { Gates, remoteLog, typesOf } from "@moora/testbed/durable/remote-log";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  defineAgent,
  inputsIn,
  openSession,
  readSession,
  userMessage,
  verifySession,
  type Agent,
  type Tool,
} from "../../src/index.ts";
import { callsThenAnswers, never, resultOf, Restarts, turns } from "../restarts/restarts.ts";
import { failureOf, settled, toolOf } from "../support.ts";
import { onAppend } from "@moora/testbed/durable/on-append";

/** A log that lists what it appends. `append` may replace the append of a session. */
function listingLog(
  append: (write: () => void, records: readonly LogRecord[]) => void | Promise<void> = (write) => write(),
): { readonly log: EventLog; readonly appends: (readonly string[])[] } {
  const appends: (readonly string[])[] = [];
  const log = withSessions(memoryLog(), (session) => ({
    append(expectedSeq: number, records: readonly LogRecord[]) {
      const write = (): void => {
        void session.append(expectedSeq, records);
        appends.push(typesOf(records));
      };
      return append(write, records);
    },
  }));
  return { log, appends };
}

/** A model that does not stream, so that no input reports the beginning of a message. */
const silent = (llm: MockLlmCaller): LlmCaller => ({
  name: "silent",
  call: (request, options) => llm.call(request, options?.signal && { signal: options.signal }),
});

describe("the appends of a session", () => {
  it("are two for each step: an answer with the starts of its calls, and their results with the next model call", async () => {
    const { log, appends } = listingLog();
    const agent = defineAgent({ llm: silent(callsThenAnswers({ name: "work" })), tools: [toolOf("work")] });
    await using session = await openSession(agent, { log, id: "ada" });
    await session.ask("go");
    expect(appends).toEqual([
      ["session-opened"],
      ["user-message-received", "llm-call-started"],
      ["re-act-observed", "tool-call-started"],
      ["tool-call-completed", "llm-call-started"],
      ["re-act-observed"],
    ]);
  });

  it("are two for a turn of a hundred calls that end together", async () => {
    const { log, appends } = listingLog();
    const calls = Array.from({ length: 100 }, () => ({ name: "work" }));
    const agent = defineAgent({
      llm: silent(callsThenAnswers(...calls)),
      tools: [toolOf("work", () => Promise.resolve("done"))],
      config: { toolCalls: { maxPerTurn: 100, maxParallel: 100 } },
    });
    await using session = await openSession(agent, { log, id: "ada" });
    await session.ask("go");
    expect(appends.slice(2, -1)).toEqual([
      ["re-act-observed", ...calls.map(() => "tool-call-started")],
      [...calls.map(() => "tool-call-completed"), "llm-call-started"],
    ]);
  });
});

describe("a log whose longest record takes an input, and not what begins with it", () => {
  it.each([0, 20, 40, 57, 58, 80])("has a sound session, with %i characters more", async (more) => {
    const message = userMessage("Hi! ".repeat(500), { messageId: "m", timestamp: 1_000_000_000_000 });
    const log = withSessions(memoryLog(), () => ({
      maxRecordLength: JSON.stringify(message).length + more,
    }));
    const agent = defineAgent({ llm: new MockLlmCaller(() => answers("Hello.")) });
    const session = await openSession(agent, { log, id: "ada", onError: () => undefined });
    const events: string[] = [];
    session.onEvent(({ type }) => void events.push(type));
    expect(await session.dispatch(message)).toMatchObject({ status: "accepted", seq: 2 });
    await session.settled();
    const types = (await readSession(log, "ada")).inputs.map(({ type }) => type);
    const isApart = types[2] === "llm-call-started";
    expect(isApart).toBe(more < 58);
    expect(events.at(-1)).toBe("FinalAnswer");
    await session.close();
    expect(await verifySession(log, "ada")).toMatchObject({ ok: true });
  });
});

describe("a process that dies between the commit of an intent and the start of its effect", () => {
  /** What the next process finds and does. `runs` counts the runs of the tool in all processes. */
  async function afterDeath(replay: "safe" | "keyed" | "once", dies: "before the start" | "after the start") {
    let runs = 0;
    const working = (end: () => unknown): Tool =>
      toolOf(
        "pay",
        () => {
          runs += 1;
          return end();
        },
        { replay },
      );
    let isDying = dies === "before the start";
    const { log } = listingLog((write, records) => {
      write();
      if (!isDying || !typesOf(records).includes("tool-call-started")) return undefined;
      isDying = false;
      return never();
    });
    const world = Object.assign(new Restarts(), { log });
    const agentWith = (tool: Tool): Agent =>
      defineAgent({ llm: callsThenAnswers({ name: "pay" }), tools: [tool] });
    await world.crash(agentWith(working(never)));
    const begun = runs;
    const next = await world.open(agentWith(working(() => "paid")));
    await next.settled();
    const { toolCalls, reActContext, usage } = next.current();
    await next.close();
    return { begun, again: runs - begun, left: { toolCalls, reActContext, usage } };
  }

  it.each(["safe", "keyed", "once"] as const)(
    "leaves of a call that is %s what a death right after the start leaves",
    async (replay) => {
      const before = await afterDeath(replay, "before the start");
      const after = await afterDeath(replay, "after the start");
      expect([before.begun, after.begun]).toEqual([0, 1]);
      expect(before.left).toEqual(after.left);
      const again = replay === "once" ? 0 : 1;
      expect([before.again, after.again]).toEqual([again, again]);
      expect(before.left.toolCalls["call_1"]?.result).toMatchObject(
        replay === "once" ? { code: "outcome-unknown" } : { isSuccess: true, content: "paid" },
      );
    },
  );
});

describe("a group of results whose append fails", () => {
  it.each(["nothing is written", "a part is written", "all is written and not confirmed"])(
    "loses and doubles nothing: %s",
    async (how) => {
      let isBroken = true;
      const near = memoryLog();
      const log = withSessions(near, (session) => ({
        append(expectedSeq: number, records: readonly LogRecord[]) {
          const results = typesOf(records).filter((type) => type === "tool-call-completed");
          if (!isBroken || results.length < 2) return session.append(expectedSeq, records);
          isBroken = false;
          const written = { "nothing is written": 0, "a part is written": 2 }[how] ?? records.length;
          if (written > 0) void session.append(expectedSeq, records.slice(0, written));
          throw new LogError("LogWrite", "The write was not confirmed.");
        },
      }));
      const calls = Array.from({ length: 5 }, () => ({ name: "work" }));
      let runs = 0;
      const agent = defineAgent({
        llm: callsThenAnswers(...calls),
        tools: [toolOf("work", () => Promise.resolve(`run ${(runs += 1)}`))],
        config: { toolCalls: { maxPerTurn: 5, maxParallel: 5 } },
      });
      const session = await openSession(agent, { log, id: "ada", onError: () => undefined });
      expect((await session.ask("go")).text).toBe("done");
      await session.close();
      const types = (await readSession(near, "ada")).inputs.flatMap(inputsIn).map(({ type }) => type);
      const count = (type: string): number => types.filter((other) => other === type).length;
      expect([isBroken, runs]).toEqual([false, 5]);
      expect([count("tool-call-started"), count("tool-call-completed"), count("llm-call-started")]).toEqual([
        5, 5, 2,
      ]);
    },
  );
});

describe("a session that loses its lease while a group waits", () => {
  it("appends nothing of the group: the outcome of its calls is for the next owner to settle", async () => {
    const storage = new MemoryStorage();
    const gates = new Gates();
    const clock = new TestClock(1_000);
    const held = Promise.withResolvers<string>();
    const agent = defineAgent({
      llm: silent(callsThenAnswers({ name: "pay" }, { name: "pay" })),
      tools: [toolOf("pay", () => held.promise)],
      config: { toolCalls: { maxParallel: 2 } },
    });
    const options = { id: "ada", clock, onError: () => undefined };
    await using stale = await openSession(agent, {
      ...options,
      log: remoteLog(memoryLog(storage), gates.pass),
    });
    const failure = failureOf(stale.ask("go"));
    await untilPasses(() => expect(stale.current().reActContext.control.type).toBe("ParallelActing"));
    await turns();
    const gate = gates.hold("append", "there", "tool-call-completed");
    held.resolve("paid");
    await gate.reached;
    const log = memoryLog(storage);
    await using next = await openSession(agent, { ...options, log, owner: "next", isOwnerGone: () => true });
    gate.open();
    expect(await failure).toMatchObject({ kind: "Conflict", reason: "StaleWriter" });
    await next.settled();
    for (const id of ["call_1", "call_2"])
      expect(resultOf(next.current(), id)).toMatchObject({ code: "outcome-unknown" });
    const { inputs } = await readSession(log, "ada");
    expect(inputs.filter(({ type }) => type === "tool-call-completed")).toEqual([]);
  });
});

describe("a message of another process whose model call cannot be recorded yet", () => {
  it("is applied, and answered when the log can be written again", async () => {
    const storage = new MemoryStorage();
    const clock = new TestClock();
    let isBusy = true;
    const busy = onAppend(memoryLog(storage), ({ types }) => {
      if (isBusy && types.includes("llm-call-started")) throw new LogError("LogBusy", "Locked by a backup.");
    });
    const agent = defineAgent({ llm: new MockLlmCaller(() => answers("Here.")) });
    const options = { id: "ada", clock, onError: () => undefined };
    const owner = await openSession(agent, { ...options, log: busy });
    const poster = await openSession(agent, { ...options, log: memoryLog(storage), access: "post" });
    await poster.send("Hello?");
    await owner.refresh();
    expect(owner.info().access).toBe("run");
    expect(owner.current().messages).toMatchObject([{ content: "Hello?" }]);
    isBusy = false;
    await clock.advanceAsync(10_000);
    await owner.settled();
    expect(owner.current().messages.at(-1)).toMatchObject({ content: "Here." });
    await Promise.all([owner.close(), poster.close()]);
    expect(clock.waiting).toBe(0);
  });
});

describe("a session that is closed while it records the start of a call", () => {
  it("waits for the call, as for one that has started", async () => {
    const gates = new Gates();
    const near = memoryLog();
    let runs = 0;
    const agent = defineAgent({
      llm: silent(new MockLlmCaller([callsTools([{ name: "pay" }])])),
      tools: [toolOf("pay", () => `run ${(runs += 1)}`)],
    });
    const clock = new TestClock();
    const session = await openSession(agent, { log: remoteLog(near, gates.pass), id: "ada", clock });
    const gate = gates.hold("append", "back", "tool-call-started");
    const failure = failureOf(session.ask("go"));
    await gate.reached;
    const closed = session.close({ graceMs: 1_000 });
    await settled();
    gate.open();
    await closed;
    expect(await failure).toMatchObject({ kind: "Cancelled" });
    expect(runs).toBe(1);
    const { inputs } = await readSession(near, "ada");
    const results = inputs.filter(({ type }) => type === "tool-call-completed");
    expect(results).toMatchObject([{ result: { content: "run 1" } }]);
  });
});
