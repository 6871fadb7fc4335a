import { LogError, maxRecordLength, memoryLog, type EventLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, openSession, verifySession, type ErrorReport } from "../../src/index.ts";
import { failureOf, settled } from "../support.ts";
import { onAppend } from "@moora/testbed/durable/on-append";

/** Six times as long in a record: JSON escapes each of its characters. */
const tooLong = "\u0001".repeat(Math.ceil(maxRecordLength / 6));

/** Two of them are longer than one append may be, one is not. */
const long = "\u0001".repeat(Math.ceil(maxRecordLength / 10));

/** A log that takes a turn of the event loop for each append, so that what comes meanwhile is appended together. */
const slow = (): { readonly log: EventLog; readonly appends: number[] } => {
  const appends: number[] = [];
  const log = onAppend(memoryLog(), async ({ records }) => {
    await settled();
    appends.push(records.length);
  });
  return { log, appends };
};

const answering = (...texts: readonly string[]) =>
  defineAgent({ llm: new MockLlmCaller(texts.map((text) => answers(text))) });

describe("an input whose record no log takes (D3)", () => {
  it("is refused to its sender alone, also when others came at the same time", async () => {
    const { log } = slow();
    const session = await openSession(answering("one", "two"), { log, id: "ada" });
    const first = session.send("first");
    const [refused, other] = await Promise.all([failureOf(session.send(tooLong)), session.send("innocent")]);
    expect(await first).toMatchObject({ status: "accepted" });
    expect(other).toMatchObject({ status: "accepted" });
    expect(refused).toMatchObject({ name: "SessionError", code: "RecordTooLong" });
    expect(String(refused)).toMatch(/user-message.* would be \d+ characters long/);
    await session.settled();
    await session.close();
    expect(await verifySession(log, "ada")).toMatchObject({ ok: true });
  });

  it("does not stop the session when a model says it: the loop fails, and the next one answers", async () => {
    const reports: ErrorReport[] = [];
    const onError = (report: ErrorReport): void => void reports.push(report);
    await using session = await openSession(answering(tooLong, "fine"), {
      log: memoryLog(),
      id: "ada",
      onError,
    });
    expect(await failureOf(session.ask("one"))).toMatchObject({ kind: "LlmError" });
    expect(reports).toMatchObject([{ source: "transition", error: { code: "RecordTooLong" } }]);
    expect((await session.ask("two")).text).toBe("fine");
  });
});

describe("inputs that are longer together than one append may be", () => {
  it("are appended in turn, all of them", async () => {
    const { log, appends } = slow();
    const session = await openSession(answering("one", "two", "three"), { log, id: "ada" });
    await session.settled();
    appends.length = 0;
    const receipts = await Promise.all([session.send("first"), session.send(long), session.send(long)]);
    expect(receipts.map(({ status }) => status)).toEqual(["accepted", "accepted", "accepted"]);
    expect(appends.length).toBeGreaterThan(1);
    await session.settled();
    await session.close();
    expect(await verifySession(log, "ada")).toMatchObject({ ok: true });
  });

  it("become part of the session once each where another process writes between their appends", async () => {
    const near = memoryLog();
    const agent = answering("one", "two");
    const lengths: number[] = [];
    let between: (() => Promise<unknown>) | undefined;
    const log = onAppend(near, async ({ records }) => {
      await settled();
      lengths.push(records.reduce((length, { body }) => length + body.length, 0));
      const isSecondPart = lengths.slice(-2).every((length) => length > maxRecordLength / 2);
      if (isSecondPart) await between?.();
    });
    const session = await openSession(agent, { log, id: "ada" });
    const poster = await openSession(agent, { log: near, id: "ada", access: "post" });
    between = async () => {
      between = undefined;
      await poster.refresh();
      await poster.send("between");
    };
    const receipts = await Promise.all([
      session.send("first"),
      session.send(`1${long}`),
      session.send(`2${long}`),
    ]);
    expect(receipts.map(({ status }) => status)).toEqual(["accepted", "accepted", "accepted"]);
    await session.settled();
    await poster.close();
    await session.close();
    expect(await verifySession(near, "ada")).toMatchObject({ ok: true });
    const said = (await session.history()).flatMap(({ input }) =>
      input.type === "user-message-received" ? [input.content.slice(0, 4)] : [],
    );
    expect(said).toEqual(["firs", `1${long.slice(0, 3)}`, "betw", `2${long.slice(0, 3)}`]);
  });

  it("become part of the session once each where a later append of them fails", async () => {
    const { log } = slow();
    const lengths: number[] = [];
    const failing = onAppend(log, async ({ records }) => {
      lengths.push(records.reduce((length, { body }) => length + body.length, 0));
      const isSecondPart = lengths.slice(-2).every((length) => length > maxRecordLength / 2);
      if (isSecondPart) throw new LogError("LogBusy", "Locked by a backup.");
    });
    const session = await openSession(answering("one", "two"), { log: failing, id: "ada" });
    const receipts = await Promise.allSettled([
      session.send("first"),
      session.send(`1${long}`),
      session.send(`2${long}`),
    ]);
    expect(receipts.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(await session.send("next")).toMatchObject({ status: "accepted" });
    await session.settled();
    await session.close();
    expect(await verifySession(log, "ada")).toMatchObject({ ok: true });
    const said = (await session.history()).flatMap(({ input }) =>
      input.type === "user-message-received" ? [input.content.slice(0, 4)] : [],
    );
    expect(said).toEqual(["firs", `1${long.slice(0, 3)}`, "next"]);
  });
});

describe("an input that is in the log already", () => {
  it("becomes part of a session whose own log handle would not take it", async () => {
    const log = memoryLog();
    const short = withSessions(log, () => ({ maxRecordLength: 1_000 }));
    await using session = await openSession(answering("noted"), { log: short, id: "ada" });
    await using poster = await openSession(answering(), { log, id: "ada", access: "post" });
    expect(await poster.send("x".repeat(1_000))).toMatchObject({ status: "accepted" });
    await session.refresh();
    expect(session.current().messages).toMatchObject([{ content: "x".repeat(1_000) }, {}]);
    expect(await failureOf(session.send("y".repeat(1_000)))).toMatchObject({ code: "RecordTooLong" });
  });
});
