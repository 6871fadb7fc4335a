import { LogError, memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { agentTool, defineAgent, openSession, type ErrorReport } from "../../src/index.ts";
import { failureOf, settled, toolOf } from "../support.ts";
import { HeardErrors } from "@moora/testbed/durable/errors";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { onAppend } from "@moora/testbed/durable/on-append";

/** A log that does not take records of which `refuses` says so. */
const failing = (refuses: (body: string) => boolean): EventLog =>
  onAppend(memoryLog(), ({ records }) => {
    if (records.some(({ body }) => refuses(body))) throw new LogError("LogBusy", "Locked by a backup.");
  });

/** A session whose tool ends on command, in a log that refuses what a test selects. */
async function working(refuses: (body: string) => boolean) {
  const clock = new TestClock();
  const held = Promise.withResolvers<string>();
  const llm = new MockLlmCaller(({ messages }) =>
    messages.some(({ role }) => role === "assistant") ? answers("Done.") : callsTools([{ name: "work" }]),
  );
  const agent = defineAgent({ llm, tools: [toolOf("work", () => held.promise)] });
  const reports: ErrorReport[] = [];
  const onError = (report: ErrorReport): void => void reports.push(report);
  const session = await openSession(agent, { log: failing(refuses), id: "ada", clock, onError });
  const run = session.ask("Work.");
  await untilPasses(() => expect(session.current().reActContext.control.type).toBe("Acting"));
  await settled();
  return { session, run, clock, reports, finish: held.resolve };
}

describe("a message that cannot be stored", () => {
  it("fails its own run alone: the run of another one continues to its answer (D10)", async () => {
    const { session, run, clock, reports, finish } = await working((body) => body.includes("unlucky"));
    expect(await failureOf(session.send("unlucky"))).toMatchObject({ code: "LogBusy" });
    expect(await failureOf(session.ask("unlucky"))).toMatchObject({
      kind: "MemoryError",
      cause: { code: "LogBusy" },
    });
    await clock.advanceAsync(60_000);
    finish("worked");
    expect((await run).text).toBe("Done.");
    // Its caller has heard of it.
    expect(reports).toEqual([]);
    await session.close();
  });

  it("fails a cancel of a run as well, which says so", async () => {
    const { session, run, reports } = await working((body) => body.includes("re-act-cancelled"));
    run.cancel();
    expect(await failureOf(run)).toMatchObject({ kind: "MemoryError", message: /cancel/ });
    expect(reports).toEqual([]);
    await session.close();
  });
});

describe("an answer whose calls could not be stored as started", () => {
  it("is stored with a cancel that arrives meanwhile, and no call runs", async () => {
    let isBusy = true;
    let runs = 0;
    const log = failing((body) => isBusy && body.includes('"tool-call-started"'));
    const llm = new MockLlmCaller([callsTools([{ name: "work" }])]);
    const agent = defineAgent({ llm, tools: [toolOf("work", () => `run ${(runs += 1)}`)] });
    const clock = new TestClock();
    await using session = await openSession(agent, { log, id: "ada", clock, onError: () => undefined });
    const failed = failureOf(session.ask("Work."));
    await settled();
    isBusy = false;
    await session.cancel();
    const types = (await session.history()).map(({ input }) => input.type);
    expect(types.slice(-2)).toEqual(["re-act-observed", "re-act-cancelled"]);
    expect(await failed).toMatchObject({ kind: "Cancelled" });
    await settled();
    expect(runs).toBe(0);
  });
});

describe("a decision of onApproval that could not be stored", () => {
  it("is stored later, however often that fails: the question is asked once, and the call runs once", async () => {
    let failures = 5;
    const asked: string[] = [];
    let runs = 0;
    const log = failing((body) => body.includes('"tool-call-decided"') && (failures -= 1) >= 0);
    const llm = new MockLlmCaller([callsTools([{ name: "work" }]), answers("Done.")]);
    const work = toolOf("work", () => `run ${(runs += 1)}`);
    const agent = defineAgent({ llm, tools: [work], config: { approval: { policy: "always" } } });
    const clock = new TestClock();
    await using session = await openSession(agent, {
      log,
      id: "ada",
      clock,
      onError: () => undefined,
      onApproval({ name }) {
        asked.push(name);
        return "approve";
      },
    });
    session.ask("Work.").then(undefined, () => undefined);
    await settled();
    for (let minute = 0; minute < 5; minute += 1) await clock.advanceAsync(60_000);
    await session.settled();
    expect({ asked, runs, control: session.current().reActContext.control.type }).toEqual({
      asked: ["work"],
      runs: 1,
      control: "Done",
    });
  });
});

describe("a log that cannot be written", () => {
  it("for less than ten seconds delays the answer, and no run hears of it", async () => {
    let isBusy = false;
    const { session, run, clock, reports, finish } = await working(() => isBusy);
    isBusy = true;
    finish("worked");
    await settled();
    await clock.advanceAsync(9_000);
    isBusy = false;
    await clock.advanceAsync(10_000);
    expect((await run).text).toBe("Done.");
    expect(reports[0]).toMatchObject({ source: "log", error: { code: "LogBusy" }, key: "tool/call_1/1" });
    await session.close();
    expect(clock.waiting).toBe(0);
  });

  it("for ten seconds rejects the runs with MemoryError; the work continues when it can be written again", async () => {
    let isBusy = false;
    const { session, run, clock, finish } = await working(() => isBusy);
    isBusy = true;
    finish("worked");
    await settled();
    const failed = failureOf(run);
    await clock.advanceAsync(9_999);
    expect(session.running()).toBeDefined();
    await clock.advanceAsync(1);
    expect(await failed).toMatchObject({ kind: "MemoryError", cause: { code: "LogBusy" } });
    const again = session.running();
    isBusy = false;
    await clock.advanceAsync(10_000);
    expect((await again)?.text).toBe("Done.");
    await session.close();
    expect(clock.waiting).toBe(0);
  });

  it("rejects those who join again ten seconds later", async () => {
    let isBusy = false;
    const { session, run, clock, finish } = await working(() => isBusy);
    isBusy = true;
    finish("worked");
    await settled();
    const failures = [failureOf(run)];
    await clock.advanceAsync(10_000);
    await failures[0];
    failures.push(failureOf(session.running() ?? Promise.reject(new Error("Nothing runs."))));
    await clock.advanceAsync(30_000);
    expect(await failures[1]).toMatchObject({ kind: "MemoryError" });
    await session.close();
  });
});

describe("a sub-agent whose log is busy while its result is stored", () => {
  it("is waited for by its caller, which has one result", async () => {
    const clock = new TestClock();
    let isBusy = true;
    const log = failing((body) => isBusy && body.includes("tool-call-completed"));
    const worker = defineAgent({
      name: "worker",
      llm: new MockLlmCaller([callsTools([{ name: "work" }]), answers("It works.")]),
      tools: [toolOf("work")],
    });
    const child = agentTool(worker, {
      name: "w",
      description: "Works.",
      log,
      clock,
      timeoutMs: 3_600_000,
    });
    const llm = new MockLlmCaller([
      callsTools([{ name: "w", arguments: { task: "Work." } }]),
      answers("Done."),
    ]);
    const agent = defineAgent({ llm, tools: [child] });
    const errors = new HeardErrors();
    const { onError } = errors;
    const session = await openSession(agent, { log: memoryLog(), id: "ada", clock, onError });
    const run = session.ask("Have it done.");
    await untilPasses(() => expect(session.current().reActContext.control.type).toBe("Acting"));
    await settled();
    for (let second = 0; second < 60; second += 1) await clock.advanceAsync(1_000);
    isBusy = false;
    await clock.advanceAsync(60_000);
    const { state } = await run;
    expect(state.toolCalls["call_1"]?.result).toMatchObject({ isSuccess: true, content: "It works." });
    expect(new Set(errors.codes)).toEqual(new Set(["LogBusy"]));
    await session.close();
    expect(clock.waiting).toBe(0);
  });
});
