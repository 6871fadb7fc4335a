import type { LlmRequest } from "@moora/llm";
import { MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import type { ApprovalRequested, Clock, DurableSession, Question } from "../../src/index.ts";
import { call, scripted, scriptedFor } from "@moora/testbed/durable/counting-agent";
import { quiet } from "@moora/testbed/durable/drive";
import { problemsAfter } from "@moora/testbed/durable/outcome";
import { checkSound, sceneOf, type Scene } from "@moora/testbed/durable/scene";
import { TestClock } from "@moora/testbed/test-clock";

const day = 86_400_000;
const asking = (...tools: readonly string[]) => ({ approval: { policy: { tools } } });

/** Sends it, settles with its questions open, and closes: no process is left. */
async function asked(scene: Scene): Promise<readonly Question[]> {
  const session = await scene.open();
  await session.send("Please.");
  await quiet(session);
  await session.close();
  return session.questions();
}

/** Opens the session, waits until it is settled, and closes it. */
async function restarted(scene: Scene): Promise<DurableSession> {
  const session = await scene.open();
  await quiet(session);
  await session.close();
  return session;
}

const one = (questions: readonly Question[]): Question => {
  const [question] = questions;
  if (question === undefined || questions.length > 1)
    throw new Error(`${questions.length} questions are asked.`);
  return question;
};

const ran = ({ counter }: Scene): readonly string[] => counter.runs.map(({ tool }) => tool);

describe("a question that waits for days", () => {
  it("is the same after every restart, and any reviewer can answer it: who, when and why are recorded", async () => {
    const scene = sceneOf([[call("pay")]], asking("pay"));
    const question = one(await asked(scene));
    for (let restart = 0; restart < 5; restart += 1) {
      await scene.clock.advanceAsync(2 * day);
      expect(one((await restarted(scene)).questions())).toEqual(question);
    }
    const person = await scene.post();
    expect(await person.decide(question, { reject: "Too dear." }, "ada")).toMatchObject({
      status: "accepted",
    });
    const at = scene.clock.now();
    await person.close();
    await scene.clock.advanceAsync(day);
    const session = await restarted(scene);
    expect(session.current().toolCalls["call_1"]).toMatchObject({
      decision: { type: "rejected", by: "ada", reason: "Too dear.", decidedAt: at },
      result: { isSuccess: false, code: "rejected", error: expect.stringContaining("Too dear.") },
    });
    expect(session.current().reActContext.control.type).toBe("Done");
    expect(ran(scene)).toEqual([]);
    await checkSound(session, scene.log());
  });

  it("keeps what was asked for where it was changed, and runs exactly what was decided (H02)", async () => {
    const scene = sceneOf([[call("pay")]], asking("pay"));
    const question = one(await asked(scene));
    const change = { of: 7 };
    const person = await scene.post();
    const deciding = person.decide(question, { approve: change }, "ada");
    change.of = 99;
    await deciding;
    await person.close();
    const session = await restarted(scene);
    expect(session.current().toolCalls["call_1"]).toMatchObject({
      parameters: '{"of":7}',
      original: '{"of":1}',
      decision: { type: "modified", by: "ada" },
    });
    expect(scene.counter.runs.map(({ args }) => args)).toEqual(['{"of":7}']);
    await checkSound(session, scene.log());
  });

  it("expires once after seven days without an owner; the model learns it, and a late click is refused (H08)", async () => {
    const llm = scripted([[call("pay")]]);
    const config = { approval: { policy: { tools: ["pay"] }, expiresAfterMs: 7 * day } };
    const scene = sceneOf([], config, { llm });
    const question = one(await asked(scene));
    expect(question.due).toBe(scene.clock.now() + 7 * day);
    for (let restart = 0; restart < 5; restart += 1) {
      await scene.clock.advanceAsync(day);
      expect((await restarted(scene)).questions()).toEqual([question]);
    }
    await scene.clock.advanceAsync(25 * day);
    await using person = await scene.post();
    expect(await person.decide(question, "approve", "ada")).toEqual({
      status: "ignored",
      reason: "already-decided",
      decidedBy: "deadline",
    });
    const session = await restarted(scene);
    expect(session.current().toolCalls["call_1"]?.result).toMatchObject({
      isSuccess: false,
      code: "expired",
    });
    await person.refresh();
    expect(await person.decide(question, "approve", "ada")).toMatchObject({ status: "ignored" });
    await restarted(scene);
    const inputs = (await session.history()).map(({ input }) => input.type);
    expect(inputs.filter((type) => type === "deadline-passed")).toHaveLength(1);
    expect(JSON.stringify(llm.requests.at(-1)?.messages)).toContain("in time");
    expect(ran(scene)).toEqual([]);
    expect(scene.clock.waiting).toBe(0);
  });

  it("is shown again when it is due, and to others when it is escalated, whatever restarts come between", async () => {
    const approval = { policy: { tools: ["pay"] }, remindAfterMs: day, escalateAfterMs: 3 * day };
    const scene = sceneOf([[call("pay")]], { approval });
    await asked(scene);
    const shown: ApprovalRequested[] = [];
    const escalated: boolean[] = [];
    for (let restart = 0; restart < 4; restart += 1) {
      await using session = await scene.open();
      session.onEvent((event) => void (event.type === "ApprovalRequested" && shown.push(event)));
      await scene.clock.advanceAsync(day);
      await quiet(session);
      const { control } = session.current().reActContext;
      escalated.push(JSON.stringify(control).includes('"escalated":true'));
    }
    expect(escalated).toEqual([false, false, true, true]);
    expect(shown.length).toBeGreaterThanOrEqual(4);
    expect(shown.every(({ reminder }, index) => reminder >= (shown[index - 1]?.reminder ?? 0))).toBe(true);
    expect(shown.map((event) => event.escalated).indexOf(true)).toBeGreaterThan(0);
    const session = await scene.open();
    expect(await session.decide(one(session.questions()), "approve", "ada")).toMatchObject({
      status: "accepted",
    });
    await quiet(session);
    expect(ran(scene)).toEqual(["pay"]);
    expect(session.current().reActContext.control.type).toBe("Done");
    await checkSound(session, scene.log());
    await session.close();
    expect(scene.clock.waiting).toBe(0);
  });

  it("is shown again once after a downtime, however many reminders were due meanwhile", async () => {
    const scene = sceneOf([[call("pay")]], { approval: { policy: { tools: ["pay"] }, remindAfterMs: day } });
    await asked(scene);
    await scene.clock.advanceAsync(10 * day);
    await using session = await scene.open();
    await quiet(session);
    const reminders = async (): Promise<number> =>
      (await session.history()).filter(({ input }) => input.type === "deadline-passed").length;
    expect(await reminders()).toBe(1);
    await scene.clock.advanceAsync(day - 1);
    expect(await reminders()).toBe(1);
    await scene.clock.advanceAsync(1);
    expect(await reminders()).toBe(2);
  });
});

describe("a decision about something else, from another process, before and after a restart", () => {
  it("is refused with its reason, and the session stays answerable (H01, H06)", async () => {
    const scene = sceneOf([[call("look"), call("pay")]], asking("pay"));
    const other = sceneOf([[call("look"), call("pay")]], asking("pay"));
    const question = one(await asked(scene));
    const foreign = one(await asked(other));
    expect({ ...foreign, digest: "" }).toEqual({ ...question, digest: "" });
    for (let restart = 0; restart < 2; restart += 1) {
      const person = await scene.post();
      const refused: readonly (readonly [Pick<Question, "toolCallId" | "digest">, string])[] = [
        [foreign, "digest-mismatch"],
        [{ ...question, digest: "" }, "digest-mismatch"],
        [{ ...question, digest: `${question.digest}#2` }, "digest-mismatch"],
        [{ ...question, toolCallId: "call_1" }, "not-open"],
        [{ ...question, toolCallId: "call_9" }, "unknown-call"],
        [{ ...question, toolCallId: "__proto__" }, "unknown-call"],
        [{ ...question, toolCallId: "constructor" }, "unknown-call"],
      ];
      for (const [about, reason] of refused) {
        for (const decision of ["approve", { approve: { of: 5 } }, { reject: "No." }] as const)
          expect(await person.decide(about, decision, "eve")).toEqual({ status: "ignored", reason });
      }
      await expect(person.decide(question, { approve: { of: "much" } }, "eve")).rejects.toMatchObject({
        name: "InputRefused",
        code: "invalid-arguments",
      });
      await person.close();
      expect(one((await restarted(scene)).questions())).toEqual(question);
    }
    expect(ran(scene)).toEqual(["look"]);
    await using session = await scene.open();
    expect(await session.decide(question, "approve", "ada")).toMatchObject({ status: "accepted" });
    await quiet(session);
    expect(await session.decide(question, { reject: "No." }, "bob")).toEqual({
      status: "ignored",
      reason: "already-decided",
      decidedBy: "ada",
    });
    expect(ran(scene)).toEqual(["look", "pay"]);
    await checkSound(session, scene.log());
  });

  it("comes too late after a cancel: nothing runs (G06)", async () => {
    const scene = sceneOf([[call("pay")]], asking("pay"));
    const question = one(await asked(scene));
    const [first, second] = [await scene.post(), await scene.post()];
    expect(await first.cancel("Enough.")).toMatchObject({ status: "accepted" });
    expect(await second.decide(question, "approve", "ada")).toEqual({
      status: "ignored",
      reason: "not-open",
    });
    const session = await restarted(scene);
    expect(session.questions()).toEqual([]);
    expect(session.current().toolCalls["call_1"]?.result).toMatchObject({ code: "cancelled" });
    expect(problemsAfter(session.current())).toEqual([]);
    expect(ran(scene)).toEqual([]);
    await Promise.all([first.close(), second.close()]);
  });
});

describe("a tool's question to a human", () => {
  it("waits across restarts for an answer that fits its schema", async () => {
    const llm = scripted([[call("rate")]]);
    const scene = sceneOf([], {}, { llm });
    const question = one(await asked(scene));
    expect(question).toMatchObject({ about: "answer", name: "rate" });
    await scene.clock.advanceAsync(3 * day);
    await restarted(scene);
    const person = await scene.post();
    for (const answer of [{ stars: 9 }, { stars: "many" }, {}, "five"]) {
      await expect(person.decide(question, { answer }, "ada")).rejects.toMatchObject({
        code: "invalid-answer",
      });
    }
    expect(await person.decide(question, "approve", "ada")).toEqual({
      status: "ignored",
      reason: "wrong-decision",
    });
    expect(await person.decide(question, { answer: { stars: 4, why: "Good." } }, "ada")).toMatchObject({
      status: "accepted",
    });
    await person.close();
    const session = await restarted(scene);
    expect(session.current().toolCalls["call_1"]).toMatchObject({
      decision: { type: "answered", by: "ada" },
      result: { isSuccess: true, content: '{"stars":4,"why":"Good."}' },
    });
    expect(JSON.stringify(llm.requests.at(-1)?.messages)).toContain("stars");
    await checkSound(session, scene.log());
  });
});

describe("three questions of one turn, each answered by another process after another restart (H05)", () => {
  const orders = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ] as const;

  it("6 orders of 8 combinations: each decision touches its own call, equal combinations give equal requests", async () => {
    const requests = new Map<number, Set<string>>();
    for (const order of orders) {
      for (let combination = 0; combination < 8; combination += 1) {
        const seen: LlmRequest[] = [];
        const llm = new MockLlmCaller((request) => {
          seen.push(request);
          return scriptedFor([[call("pay", 1), call("pay", 2), call("pay", 3)]], request);
        });
        const scene = sceneOf([], asking("pay"), { llm });
        const questions = await asked(scene);
        expect(questions).toHaveLength(3);
        const approves = (index: number): boolean => (combination & (1 << index)) !== 0;
        for (const index of order) {
          const question = questions[index];
          if (question === undefined) throw new Error("Nothing is asked.");
          const person = await scene.post();
          await person.decide(question, approves(index) ? "approve" : { reject: "No." }, `person ${index}`);
          await person.close();
          await restarted(scene);
        }
        expect(new Set(scene.counter.runs.map(({ args }) => args))).toEqual(
          new Set([0, 1, 2].filter(approves).map((index) => `{"of":${index + 1}}`)),
        );
        expect(scene.counter.runs).toHaveLength([0, 1, 2].filter(approves).length);
        const last = JSON.stringify(seen.at(-1));
        requests.set(combination, (requests.get(combination) ?? new Set()).add(last));
        expect(seen).toHaveLength(2);
      }
    }
    expect([...requests.values()].map(({ size }) => size)).toEqual(Array.from({ length: 8 }, () => 1));
    expect(new Set([...requests.values()].flatMap((texts) => [...texts])).size).toBe(8);
  });
});

describe("a person whose clock is ahead", () => {
  const expiring = { approval: { policy: "always", expiresAfterMs: 10_000 } } as const;

  /** A clock by which the question has expired, and the lease has not. */
  const aheadOf = ({ clock }: Scene): Clock => ({
    now: () => clock.now() + 20_000,
    after: (ms, callback) => clock.after(ms, callback),
  });

  it("is heard while a host runs the session: only that host reports deadlines", async () => {
    const scene = sceneOf([[call("pay")]], expiring);
    await using owner = await scene.open();
    await owner.send("Please.");
    await quiet(owner);
    const person = await scene.post({ clock: aheadOf(scene) });
    expect(await person.decide(one(person.questions()), "approve", "ada")).toMatchObject({
      status: "accepted",
    });
    await person.close();
    await quiet(owner);
    expect(ran(scene)).toEqual(["pay"]);
  });

  it("is heard, too, where the clock is an instance whose methods read its fields", async () => {
    const scene = sceneOf([[call("pay")]], expiring);
    await using owner = await scene.open();
    await owner.send("Please.");
    await quiet(owner);
    const clock = new TestClock(scene.clock.now() + 20_000);
    await using person = await scene.post({ clock });
    expect(await person.decide(one(person.questions()), "approve", "ada")).toMatchObject({
      status: "accepted",
    });
  });

  it("comes too late for a question of a session without an owner", async () => {
    const scene = sceneOf([[call("pay")]], expiring);
    const question = one(await asked(scene));
    await scene.clock.advanceAsync(2 * day);
    const person = await scene.post();
    expect(await person.decide(question, "approve", "ada")).toMatchObject({
      status: "ignored",
      decidedBy: "deadline",
    });
    await person.close();
    await restarted(scene);
    expect(ran(scene)).toEqual([]);
  });
});
