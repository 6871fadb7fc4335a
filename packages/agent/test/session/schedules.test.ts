import { answers, callsTools, hangs, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { storageOf } from "@moora/testbed/durable/places";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { memoryLog, type EventLog } from "@moora/event-log";
import { describe, expect, it } from "vitest";
import {
  agentTool,
  defineAgent,
  defineTool,
  exportSession,
  forkSession,
  importSession,
  InputRefused,
  moveSession,
  nextWorkAt,
  openSession,
  readSession,
  removeSession,
  rerunSession,
  runTask,
  scheduleTool,
  startSession,
  stateAt,
  verifySession,
  type DurableSession,
  type Question,
  type ScheduleOptions,
  type Session,
} from "../../src/index.ts";
import { nextCron } from "../../src/next-cron.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const agentOf = (script: MockScript = () => answers("Done."), ...tools: ReturnType<typeof scheduleTool>[]) =>
  defineAgent({ llm: new MockLlmCaller(script), tools });

const at = (time: string): TestClock => new TestClock(Date.parse(time));

function inMemory(clock = new TestClock(), script?: MockScript): Session {
  return startSession(agentOf(script), { clock, id: "ada" });
}

interface Opening {
  readonly log: EventLog;
  readonly clock: TestClock;
}

const open = (to: Opening): Promise<DurableSession> =>
  openSession(agentOf(), { ...to, id: "ada", owner: "host" });

/** The messages that schedules have sent. */
const sent = ({ current }: Pick<Session, "current">): readonly string[] =>
  current().messages.flatMap(({ content, scheduled }) => (scheduled === undefined ? [] : [content]));

const refusal = async (options: unknown, session = inMemory()): Promise<unknown> =>
  await session.schedule(options as ScheduleOptions).catch((error: unknown) => error);

describe("a schedule", () => {
  it("sends its message once, at its time, says that no person has sent it, and is gone then", async () => {
    const clock = new TestClock();
    await using session = inMemory(clock);
    const due = clock.now() + hour;
    const id = await session.schedule({ at: due, message: "Look at the oven." }, "ada");
    expect(session.current().schedules?.open).toMatchObject([{ id, due, by: "ada", when: { at: due } }]);
    clock.advanceTo(due - 1);
    expect(sent(session)).toEqual([]);
    await clock.advanceToAsync(due);
    await session.settled();
    expect(session.current().messages).toMatchObject([
      { role: "user", content: "Look at the oven.", scheduled: { id, by: "ada" } },
      { role: "assistant", content: "Done." },
    ]);
    expect(session.current().schedules?.open).toEqual([]);
  });

  it("with a time in the past sends its message at once", async () => {
    await using session = inMemory();
    await session.schedule({ at: new Date(0), message: "Now.", missed: "skip" });
    await session.settled();
    expect(sent(session)).toEqual(["Now."]);
  });

  it("that repeats does not drift, also if its timer fires late", async () => {
    const clock = new TestClock(0);
    await using session = inMemory(clock);
    await session.schedule({ everyMs: hour, message: "Again." });
    for (const late of [0, 7, 31]) {
      clock.jump(hour - (clock.now() % hour) + late);
      clock.advance(0);
      await session.settled();
      expect(Number(session.current().schedules?.open[0]?.due) % hour).toBe(0);
    }
    expect(sent(session)).toHaveLength(3);
  });

  it("waits in the queue while a loop runs, as the message of a person, and a cancel keeps it", async () => {
    const clock = new TestClock();
    await using session = inMemory(clock, (_, call) => (call === 0 ? hangs("Let me") : answers("Done.")));
    await session.send("Long work.");
    await session.schedule({ everyMs: hour, message: "It is time." });
    await clock.advanceAsync(hour);
    expect(session.current().reActContext).toMatchObject({ loop: 1, queued: [{ type: "message" }] });
    await session.cancel();
    await session.settled();
    expect(session.current().schedules?.open).toHaveLength(1);
    await clock.advanceAsync(hour);
    await session.settled();
    expect(sent(session)).toEqual(["It is time.", "It is time."]);
    expect(session.current().messages.at(-1)).toMatchObject({ role: "assistant", content: "Done." });
  });

  it("sends no message again that the running loop has yet to read, and its time moves on", async () => {
    const clock = new TestClock(0);
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      input: { type: "object" },
      approval: "always",
      execute: () => "Paid.",
    });
    const llm = new MockLlmCaller([callsTools([{ name: "pay", arguments: {} }]), answers("Done.")]);
    await using session = startSession(defineAgent({ llm, tools: [pay] }), { clock });
    session.onEvent(() => undefined);
    await session.schedule({ id: "often", everyMs: 1_000, message: "Again." });
    await session.send("Pay.");
    await untilPasses(() => expect(session.questions()).toHaveLength(1));
    for (let count = 0; count < 60; count += 1) await clock.advanceAsync(1_000);
    expect(sent(session)).toEqual(["Again."]);
    expect(session.current().schedules?.open).toMatchObject([{ due: 61_000 }]);
    // Another message of the same id is not lost.
    await session.schedule({ id: "often", at: 61_000, message: "Something else." });
    await clock.advanceAsync(1_000);
    expect(sent(session)).toEqual(["Again.", "Something else."]);
    const [question] = session.questions();
    await session.decide(question as Question, "approve");
    await session.settled();
    expect(session.current().messages.at(-1)).toMatchObject({ content: "Done." });
  });

  it("is held by a pause: what it missed meanwhile is one message after the resume", async () => {
    const clock = new TestClock();
    await using session = inMemory(clock);
    await session.schedule({ everyMs: hour, message: "Again." });
    await session.pause();
    expect(nextWorkAt(session.current())).toBeNull();
    await clock.advanceAsync(5.5 * hour);
    expect(sent(session)).toEqual([]);
    await session.resume();
    await session.settled();
    expect(sent(session)).toEqual(["Again."]);
    expect(session.current().schedules?.open[0]?.due).toBe(1_000_000 + 6 * hour);
  });

  it("is removed, and a second removal finds none", async () => {
    const clock = new TestClock();
    await using session = inMemory(clock);
    const id = await session.schedule({ everyMs: hour, message: "Again." });
    expect(await session.unschedule(id)).toMatchObject({ status: "accepted" });
    expect(await session.unschedule(id)).toEqual({ status: "ignored", reason: "unknown-schedule" });
    await clock.advanceAsync(2 * hour);
    expect(sent(session)).toEqual([]);
  });

  it("that is set again continues if it is equal, and begins anew if it is not", async () => {
    const clock = new TestClock(0);
    await using session = inMemory(clock);
    const set = (everyMs: number) => session.schedule({ id: "hourly", everyMs, message: "Again." });
    await set(hour);
    clock.advance(minute);
    expect(await set(hour)).toBe("hourly");
    expect(session.current().schedules).toMatchObject({ count: 1, open: [{ due: hour }] });
    await set(2 * hour);
    expect(session.current().schedules).toMatchObject({ count: 2, open: [{ due: 2 * hour + minute }] });
  });
});

describe("a cron expression", () => {
  const dues = async (cron: string, timeZone: string, from: string): Promise<readonly string[]> => {
    const first = await nextCron(cron, timeZone, Date.parse(from));
    const second = await nextCron(cron, timeZone, first ?? 0);
    return [first, second].map((due) => new Date(due ?? 0).toISOString());
  };

  it("is read in its time zone", async () => {
    const clock = at("2026-01-05T00:00:00Z");
    await using session = inMemory(clock);
    await session.schedule({ cron: "0 9 * * 1-5", timeZone: "America/New_York", message: "Good morning." });
    expect(session.current().schedules?.open[0]?.due).toBe(Date.parse("2026-01-05T14:00:00Z"));
    await clock.advanceAsync(14 * hour);
    await session.settled();
    expect(sent(session)).toEqual(["Good morning."]);
    expect(session.current().schedules?.open[0]?.due).toBe(Date.parse("2026-01-06T14:00:00Z"));
  });

  it("runs after the gap where its time does not exist", async () => {
    expect(await dues("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z")).toEqual([
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
  });

  it("runs once, the first time, where its time exists twice", async () => {
    expect(await dues("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z")).toEqual([
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ]);
  });
});

describe("a refusal", () => {
  it.each<[string, unknown, string]>([
    ["nothing", undefined, "options"],
    ["no time", { message: "Hi" }, "options"],
    ["two times", { message: "Hi", at: 1, cron: "* * * * *" }, "options"],
    ["an empty period", { message: "Hi", everyMs: 0 }, "options.everyMs"],
    ["a short period", { message: "Hi", everyMs: 999 }, "options.everyMs"],
    ["a period that ends never", { message: "Hi", everyMs: Number.MAX_SAFE_INTEGER }, "options.everyMs"],
    ["a name of a cron expression", { message: "Hi", cron: "@daily" }, "options.cron"],
    ["a date as a cron expression", { message: "Hi", cron: "2040-01-01T00:00:00" }, "options.cron"],
    ["a time that no date can have", { message: "Hi", at: 1e300 }, "options.at"],
    ["a day that does not exist", { message: "Hi", at: "2030-02-31T09:00:00Z" }, "options.at"],
    ["no cron expression", { message: "Hi", cron: "at nine" }, "options.cron"],
    ["six fields", { message: "Hi", cron: "0 0 9 * * *" }, "options.cron"],
    ["a cron expression that is never due", { message: "Hi", cron: "0 0 30 2 *" }, "options.cron"],
    ["an unknown zone", { message: "Hi", cron: "0 9 * * *", timeZone: "Mars/Base" }, "options.cron"],
    [
      "a zone without a cron expression",
      { message: "Hi", everyMs: hour, timeZone: "UTC" },
      "options.timeZone",
    ],
    ["a text without an offset", { message: "Hi", at: "2030-01-31T09:00:00" }, "options.at"],
    ["a time that is not a number", { message: "Hi", at: Number.NaN }, "options.at"],
    ["no message", { at: 1 }, "options.message"],
    ["a blank message", { at: 1, message: " " }, "options"],
    ["an unknown option", { at: 1, message: "Hi", zone: "UTC" }, "options.zone"],
    ["an unknown choice", { at: 1, message: "Hi", missed: "all" }, "options.missed"],
  ])("names what is wrong with %s", async (_, options, path) => {
    const error = await refusal(options);
    expect(error).toBeInstanceOf(InputRefused);
    expect(error).toMatchObject({ path });
  });

  it("comes with the 101st schedule, and none where it replaces one", async () => {
    await using session = inMemory();
    for (let count = 0; count < 100; count += 1)
      await session.schedule({ id: `s${count}`, everyMs: hour, message: "Hi" });
    expect(await refusal({ everyMs: hour, message: "Hi" }, session)).toMatchObject({
      code: "too-many-schedules",
    });
    expect(await session.schedule({ id: "s7", everyMs: day, message: "Hi" })).toBe("s7");
  });

  it("comes in the session of a sub-agent, which ends with its task", async () => {
    let refused: unknown;
    const tool = agentTool(agentOf(), {
      name: "helper",
      description: "Helps.",
      onSession(session) {
        void refusal({ at: 1, message: "Hi" }, session as Session).then((error) => (refused = error));
      },
    });
    const script: MockScript = [
      callsTools([{ name: "helper", arguments: { task: "Help." } }]),
      answers("Helped."),
    ];
    await using session = startSession(defineAgent({ llm: new MockLlmCaller(script), tools: [tool] }));
    await session.ask("Go.");
    expect(refused).toMatchObject({ code: "sub-agent" });
  });
});

describe("a schedule that a program posts as an input", () => {
  const posted = (when: object, due = 0): object => ({
    type: "schedule-changed",
    scheduleId: "raw",
    schedule: { when, due, message: "Hi", missed: "once" },
    by: "ada",
    timestamp: 0,
  });

  it.each([
    ["a short period", { everyMs: 999 }],
    ["a time that no date can have", { at: 1e300 }],
  ])("is refused for %s", async (_, when) => {
    await using session = inMemory();
    await expect(session.dispatch(posted(when))).rejects.toBeInstanceOf(InputRefused);
    await expect(session.dispatch(posted({ at: 1 }, 1e300))).rejects.toBeInstanceOf(InputRefused);
  });

  it.each([
    ["an invalid cron expression", { cron: "garbage", timeZone: "UTC" }, "five fields"],
    ["an unknown zone", { cron: "0 9 * * *", timeZone: "Mars/Base" }, "Mars/Base"],
  ])("and that has no next time, with %s, ends, and its log says why", async (_, when, problem) => {
    const log = memoryLog();
    const session = await open({ log, clock: new TestClock(1) });
    await session.dispatch(posted(when));
    await untilPasses(() => expect(session.current().schedules?.open).toEqual([]));
    await session.settled();
    expect(sent(session)).toEqual(["Hi"]);
    await session.close();
    const { inputs } = await readSession(log, "ada");
    const passed = inputs.find(({ type }) => type === "deadline-passed");
    expect(passed).toMatchObject({ problem: expect.stringContaining(problem) });
  });
});

describe.each(["memory", "sqlite"] as const)("a schedule in a log (%s)", (name) => {
  it.each([
    ["once", ["Again."]],
    ["skip", []],
  ] as const)("that was missed five times runs %s: %j", async (missed, expected) => {
    await using storage = storageOf(name);
    const clock = new TestClock(0);
    const before = await open({ log: storage.open(), clock });
    await before.schedule({ everyMs: hour, message: "Again.", missed });
    // The process is killed: it does not close the session.
    clock.set(5.5 * hour);
    const session = await open({ log: storage.open(), clock });
    await session.settled();
    expect(sent(session)).toEqual(expected);
    expect(session.current().schedules?.open[0]?.due).toBe(6 * hour);
    await clock.advanceToAsync(6 * hour);
    await session.settled();
    expect(sent(session)).toEqual([...expected, "Again."]);
    expect(await verifySession(storage.open(), "ada")).toMatchObject({ ok: true });
    await session.close();
  });

  it("is set by a poster, and kept by the owner, once for each due time", async () => {
    await using storage = storageOf(name);
    const clock = new TestClock(0);
    const owner = await open({ log: storage.open(), clock });
    const poster = await openSession(agentOf(), { log: storage.open(), id: "ada", clock, access: "post" });
    const id = await poster.schedule({ everyMs: hour, message: "Again." });
    await owner.refresh();
    expect(owner.current().schedules?.open).toMatchObject([{ id }]);
    // Both have timers for it now.
    await clock.advanceAsync(hour);
    await owner.settled();
    await poster.refresh();
    expect(sent(poster)).toEqual(["Again."]);
    await poster.close();
    await owner.close();
  });

  it("says when its work continues, so that workers find it", async () => {
    await using storage = storageOf(name);
    const clock = new TestClock(0);
    const log = storage.open();
    const session = await open({ log, clock });
    await session.schedule({ everyMs: hour, message: "Again." });
    await session.close();
    const dueAt = async (now: number) =>
      (await log.due?.({ now, limit: 10 }))?.map(({ id, due }) => [id, due]);
    expect(await dueAt(hour - 1)).toEqual([]);
    expect(await dueAt(hour)).toEqual([["ada", hour]]);
  });

  it("is not done again by a fork or an import, and stays in its session", async () => {
    await using storage = storageOf(name);
    const clock = new TestClock(0);
    const log = storage.open();
    const session = await open({ log, clock });
    await session.schedule({ everyMs: hour, message: "Again." });
    await session.close();
    const { seq } = await stateAt(log, "ada");
    for (const how of ["reuse", "rerun", "close"] as const) {
      const { state } = await forkSession(log, "ada", seq, { as: `fork-${how}`, open: how });
      expect(state.schedules?.open).toEqual([]);
    }
    await importSession(log, await exportSession(log, "ada"), "imported");
    expect((await stateAt(log, "imported")).state.schedules?.open).toEqual([]);
    expect((await stateAt(log, "ada")).state.schedules?.open).toHaveLength(1);
    expect(await verifySession(log, "imported")).toMatchObject({ ok: true });
  });
});

it("a schedule sleeps in an archive, and continues when the session is restored", async () => {
  const clock = new TestClock(0);
  const [log, archive] = [memoryLog(), memoryLog()];
  const session = await open({ log, clock });
  await session.schedule({ everyMs: hour, message: "Again." });
  await session.close();
  await moveSession(log, "ada", archive);
  clock.set(3.5 * hour);
  expect(await log.due?.({ now: clock.now(), limit: 10 })).toEqual([]);
  await moveSession(archive, "ada", log);
  expect(await log.due?.({ now: clock.now(), limit: 10 })).toMatchObject([{ id: "ada" }]);
  const restored = await open({ log, clock });
  await restored.settled();
  expect(sent(restored)).toEqual(["Again."]);
  await restored.close();
});

it("a schedule of a removed session does nothing", async () => {
  const clock = new TestClock(0);
  const log = memoryLog();
  const session = await open({ log, clock });
  session.onError(() => undefined);
  await session.schedule({ everyMs: hour, message: "Again." });
  await removeSession(log, "ada");
  await clock.advanceAsync(2 * hour);
  expect(await log.open("ada")).toBeUndefined();
  await session.close();
});

it("a clock that is set back does not run a due time twice", async () => {
  const clock = new TestClock(0);
  await using session = inMemory(clock);
  await session.schedule({ everyMs: hour, message: "Again." });
  await clock.advanceAsync(hour);
  await session.settled();
  clock.set(0);
  await clock.advanceToAsync(hour + minute);
  expect(sent(session)).toEqual(["Again."]);
  await clock.advanceToAsync(2 * hour);
  await session.settled();
  expect(sent(session)).toHaveLength(2);
});

it("a rerun gets the messages of schedules, and has none itself", async () => {
  const clock = new TestClock(0);
  const log = memoryLog();
  const session = await open({ log, clock });
  await session.schedule({ everyMs: hour, message: "Again." });
  await clock.advanceAsync(hour);
  await session.settled();
  await session.close();
  for (const from of [0, 2]) {
    const rerun = await rerunSession(agentOf(), log, "ada", { from, clock });
    expect(rerun.differences).toEqual([]);
    expect(rerun.state.messages.map(({ content }) => content)).toEqual(["Again.", "Done."]);
  }
});

describe("the tool with which an agent wakes itself up", () => {
  const calling = (...calls: readonly object[]) => {
    const clock = at("2026-01-05T00:00:00Z");
    const session = startSession(
      agentOf(
        [
          ...calls.map((call) => callsTools([{ name: "schedule", arguments: call as never }])),
          answers("Good night."),
          ...Array.from({ length: 5 }, () => answers("I am awake.")),
        ],
        scheduleTool({ max: 2 }),
      ),
      { clock, id: "ada" },
    );
    const results = () =>
      Object.values(session.current().toolCalls).map(({ result }) =>
        result?.isSuccess === true ? result.content : `error: ${result?.error}`,
      );
    return { session, clock, results };
  };

  it("sets a message to its own session, by the agent", async () => {
    const { session, clock } = calling({ action: "set", message: "Check the build.", inMinutes: 30 });
    await session.ask("Watch the build.");
    await clock.advanceAsync(30 * minute);
    await session.settled();
    expect(session.current().messages.slice(2)).toMatchObject([
      { content: "Check the build.", scheduled: { id: "wake-up-call_1", by: null } },
      { content: "I am awake." },
    ]);
  });

  it("lists and cancels only what the agent has set", async () => {
    const { session, results } = calling(
      { action: "set", id: "build", message: "Check.", everyMinutes: 5 },
      { action: "list" },
      { action: "cancel", id: "theirs" },
      { action: "set", id: "theirs", message: "Mine now.", inMinutes: 1 },
      { action: "cancel", id: "build" },
    );
    await session.schedule({ id: "theirs", everyMs: hour, message: "Report." });
    await session.ask("Watch the build.");
    const [set, list, ...others] = results();
    expect(set).toContain('"build"');
    expect(list).not.toContain("theirs");
    expect(others).toEqual([
      "error: You have no wake-up theirs.",
      "error: You have no wake-up theirs.",
      "Canceled build.",
    ]);
    expect(session.current().schedules?.open.map(({ id }) => id)).toEqual(["theirs"]);
  });

  it("leaves alone the schedules of a user whose name is agent", async () => {
    const { session, results } = calling({ action: "list" }, { action: "cancel", id: "theirs" });
    await session.schedule({ id: "theirs", everyMs: hour, message: "Report." }, "agent");
    await session.ask("Clean up.");
    expect(results()).toEqual(["[]", "error: You have no wake-up theirs."]);
    expect(session.current().schedules?.open.map(({ id }) => id)).toEqual(["theirs"]);
  });

  it("refuses in a task, whose session ends with it", async () => {
    const set = { action: "set", message: "Check.", inMinutes: 1 };
    const script: MockScript = [callsTools([{ name: "schedule", arguments: set }]), answers("Done.")];
    const { state } = await runTask(agentOf(script, scheduleTool()), "Watch the build.");
    expect(Object.values(state.toolCalls)).toMatchObject([
      { result: { isSuccess: false, error: expect.stringContaining("ends with its task") } },
    ]);
    expect(state.schedules?.open ?? []).toEqual([]);
  });

  it("refuses two times", async () => {
    const { session, results } = calling({
      action: "set",
      message: "When?",
      at: "2026-02-01T09:00:00Z",
      inMinutes: 1,
    });
    await session.ask("Try.");
    expect(results()).toEqual([expect.stringContaining("one of at and inMinutes")]);
    expect(session.current().schedules?.open ?? []).toEqual([]);
  });

  it("has limits, and says what is wrong with a time", async () => {
    const { session, results } = calling(
      { action: "set", message: "Too often.", everyMinutes: 0.1 },
      { action: "set", message: "When?" },
      { action: "set", message: "Where?", at: "2026-02-01T09:00:00" },
      { action: "set", message: "One.", at: "2026-02-01T09:00:00+01:00" },
      { action: "set", message: "Two.", cron: "0 9 * * *", timeZone: "Europe/Berlin" },
      { action: "set", message: "Three.", inMinutes: 1 },
    );
    await session.ask("Try.");
    const [often, when, where, one, two, three] = results();
    expect(often).toContain("everyMinutes");
    expect(when).toContain("one of at, everyMs and cron");
    expect(where).toContain("must be a time");
    expect(one).toContain("2026-02-01T08:00:00.000Z");
    expect(two).toContain("2026-01-05T08:00:00.000Z");
    expect(three).toContain("the most");
  });
});

it("the timer of a schedule keeps the process alive, as work does", async () => {
  const kept: unknown[] = [];
  const clock = new (class extends TestClock {
    override after(ms: number, callback: () => void, options?: object): () => void {
      kept.push(options);
      return super.after(ms, callback);
    }
  })();
  await using session = inMemory(clock);
  await session.schedule({ everyMs: hour, message: "Again." });
  await untilPasses(() => expect(kept).toEqual([{ keepsAlive: true }]));
});
