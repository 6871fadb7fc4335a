import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { beforeEach, describe, expect, it, vi } from "vitest";
import {
  defineAgent,
  openSession,
  startSession,
  type Agent,
  type AgentEvent,
  type ApprovalRequested,
  type ErrorReport,
  type Session,
} from "../../src/index.ts";
import { settled, toolOf } from "../support.ts";

const careful = (calls = 1): { readonly agent: Agent; readonly paid: unknown[] } => {
  const paid: unknown[] = [];
  const pay = toolOf("pay", ({ of }) => (paid.push(of), "paid"), { approval: "always" });
  const llm = new MockLlmCaller(({ messages }) =>
    messages.some(({ role }) => role === "assistant")
      ? answers("Done.")
      : callsTools(Array.from({ length: calls }, (_, of) => ({ name: "pay", arguments: { of } }))),
  );
  return { paid, agent: defineAgent({ llm, tools: [pay] }) };
};

/** A log with a session "ada" that waits for a decision, and which nothing runs. */
async function asked(agent: Agent): Promise<EventLog> {
  const log = memoryLog();
  const session = await openSession(agent, { log, id: "ada", onError: () => undefined });
  await session.send("Pay.");
  await untilPasses(() => expect(session.questions().length).toBeGreaterThan(0));
  await session.close();
  return log;
}

const firstOf = (events: readonly AgentEvent[]): ApprovalRequested => {
  const [event] = events;
  if (event?.type === "ApprovalRequested") return event;
  throw new Error(`It begins with ${event?.type ?? "nothing"}.`);
};

const heardBy = (session: Session): AgentEvent[] => {
  const events: AgentEvent[] = [];
  session.onEvent((event) => void events.push(event));
  return events;
};

describe("a question that is open when a session is opened", () => {
  it("is the first event of a listener, of the process that runs the session", async () => {
    const { agent, paid } = careful();
    await using session = await openSession(agent, { log: await asked(agent), id: "ada" });
    const events = heardBy(session);
    await settled();
    await firstOf(events).decide("approve", "ada");
    await session.settled();
    await settled();
    expect(paid).toEqual([0]);
    expect(events.filter(({ type }) => type === "ApprovalRequested")).toHaveLength(1);
  });

  it("is the first event of an iteration over running()", async () => {
    const { agent, paid } = careful();
    await using session = await openSession(agent, { log: await asked(agent), id: "ada" });
    const types: string[] = [];
    const run = session.running();
    if (run === undefined) throw new Error("Nothing runs.");
    for await (const event of run) {
      types.push(event.type);
      if (event.type === "ApprovalRequested") await event.decide("approve");
    }
    expect(types[0]).toBe("ApprovalRequested");
    expect(types.at(-1)).toBe("FinalAnswer");
    expect(paid).toEqual([0]);
  });

  it.each(["post", "read"] as const)("is the first event of a listener with access %s", async (access) => {
    const { agent } = careful();
    const log = await asked(agent);
    await using session = await openSession(agent, { log, id: "ada", access });
    const events = heardBy(session);
    await settled();
    expect(firstOf(events)).toMatchObject({ name: "pay", parameters: { of: 0 } });
    expect(events).toHaveLength(1);
  });
});

describe("a question that comes while others look on", () => {
  it("is an event of those who post and of those who read, once", async () => {
    const { agent, paid } = careful(2);
    const log = memoryLog();
    const owner = await openSession(agent, { log, id: "ada", onError: () => undefined });
    const [poster, reader] = [
      await openSession(agent, { log, id: "ada", access: "post" }),
      await openSession(agent, { log, id: "ada", access: "read" }),
    ];
    const read = heardBy(reader);
    const decided: string[] = [];
    for await (const event of poster.ask("Pay.")) {
      if (event.type !== "ApprovalRequested") continue;
      decided.push(event.toolCallId);
      await event.decide("approve", "ada");
    }
    expect(decided).toEqual(["call_1", "call_2"]);
    expect(new Set(paid)).toEqual(new Set([0, 1]));
    await reader.refresh();
    expect(read.flatMap((event) => (event.type === "ApprovalRequested" ? [event.toolCallId] : []))).toEqual([
      "call_1",
      "call_2",
    ]);
    await Promise.all([owner.close(), poster.close(), reader.close()]);
  });

  it("is heard once by a listener that comes in the middle of the input that asks", async () => {
    const { agent } = careful();
    await using session = startSession(agent);
    const events: AgentEvent[] = [];
    const stop = session.subscribe(() => {
      if (session.questions().length === 0) return;
      stop();
      session.onEvent((event) => void events.push(event));
    });
    await session.send("Pay.");
    await settled();
    expect(events.map(({ type }) => type)).toEqual(["ApprovalRequested"]);
  });

  it("is not heard by a listener that has left at once", async () => {
    const { agent } = careful();
    await using session = await openSession(agent, {
      log: await asked(agent),
      id: "ada",
      onError: () => undefined,
    });
    const heard = vi.fn();
    const stop = session.onEvent(heard);
    stop();
    await settled();
    expect(heard).not.toHaveBeenCalled();
  });
});

describe("a question that nothing in the process shows", () => {
  const printed = vi.spyOn(console, "error");
  beforeEach(() => void printed.mockReset().mockReturnValue());

  it("is reported once, with what to do", async () => {
    const { agent } = careful(2);
    const reports: ErrorReport[] = [];
    await using session = startSession(agent, { onError: (report) => void reports.push(report) });
    void session.ask("Pay.");
    await untilPasses(() => expect(reports).toHaveLength(1));
    expect(reports).toMatchObject([{ source: "question", error: { code: "QuestionUnseen" } }]);
    expect(String(reports[0]?.error)).toMatch(/pay.*onApproval.*onEvent.*ask\(\)/);
    await session.cancel();
    void session.ask("Pay again.");
    await settled();
    await settled();
    expect(reports).toHaveLength(1);
  });

  it("is printed where nothing listens for errors either", async () => {
    const { agent } = careful();
    await using session = startSession(agent);
    void session.ask("Pay.");
    await untilPasses(() => expect(printed).toHaveBeenCalledTimes(1));
    expect(printed.mock.calls[0]?.[1]).toMatchObject({ code: "QuestionUnseen" });
  });

  it.each<[string, (session: Session) => unknown]>([
    ["a listener of events", (session) => session.onEvent(() => undefined)],
    ["a store that shows questions()", (session) => session.subscribe(() => undefined)],
    ["an iteration", (session) => session.running()?.[Symbol.asyncIterator]().next()],
  ])("is not reported where there is %s", async (_, listen) => {
    const { agent } = careful();
    const reports: ErrorReport[] = [];
    await using session = startSession(agent, { onError: (report) => void reports.push(report) });
    void session.ask("Pay.");
    listen(session);
    await untilPasses(() => expect(session.questions()).toHaveLength(1));
    await new Promise((resolve) => setTimeout(resolve));
    await settled();
    expect(reports).toEqual([]);
  });

  it("is not reported where an iteration showed it and then left it open", async () => {
    const { agent } = careful();
    const reports: ErrorReport[] = [];
    await using session = startSession(agent, { onError: (report) => void reports.push(report) });
    for await (const { type } of session.ask("Pay.")) if (type === "ApprovalRequested") break;
    await new Promise((resolve) => setTimeout(resolve));
    await settled();
    expect(session.questions()).toHaveLength(1);
    expect(reports).toEqual([]);
  });

  it("is not reported where onApproval answers", async () => {
    const { agent, paid } = careful();
    const reports: ErrorReport[] = [];
    const session = startSession(agent, {
      onApproval: () => "approve",
      onError: (report) => void reports.push(report),
    });
    expect((await session.ask("Pay.")).text).toBe("Done.");
    expect([paid, reports]).toEqual([[0], []]);
  });
});
