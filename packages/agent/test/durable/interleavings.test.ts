import { describe, expect, it } from "vitest";
import type { DurableSession, Question } from "../../src/index.ts";
import { HeardErrors } from "@moora/testbed/durable/errors";
import { call } from "@moora/testbed/durable/counting-agent";
import { quiet } from "@moora/testbed/durable/drive";
import { problemsAfter } from "@moora/testbed/durable/outcome";
import { checkSound, sceneOf, type Scene } from "@moora/testbed/durable/scene";

const asking = (...tools: readonly string[]) => ({ approval: { policy: { tools } } });

async function begun(scene: Scene): Promise<DurableSession> {
  const session = await scene.open();
  await session.send("Please.");
  await quiet(session);
  return session;
}

const questionOn = (session: DurableSession, name: string): Question => {
  const found = session.questions().find((question) => question.name === name);
  if (found === undefined) throw new Error(`Nothing is asked about ${name}.`);
  return found;
};

const countOf = ({ counter }: Scene, tool: string): number =>
  counter.runs.filter((run) => run.tool === tool).length;

const endOf = (session: DurableSession) => ({
  control: session.current().reActContext.control.type,
  results: Object.values(session.current().toolCalls).map(({ result }) => result?.isSuccess),
});

describe("three parallel calls with two approvals", () => {
  it("are answered one at a time, the second first: what may run runs, and the turn continues after the last", async () => {
    const scene = sceneOf([[call("look"), call("pay"), call("ship")]], asking("pay", "ship"));
    const session = await begun(scene);
    expect(scene.counter.runs.map(({ tool }) => tool)).toEqual(["look"]);
    const human = await scene.post();
    expect(await human.decide(questionOn(human, "ship"), "approve", "ada")).toMatchObject({
      status: "accepted",
    });
    await session.refresh();
    await quiet(session);
    expect(session.questions().map(({ name }) => name)).toEqual(["pay"]);
    expect(session.current().reActContext.control.type).toBe("WaitingForHuman");
    expect(await human.decide(questionOn(human, "pay"), "approve", "bob")).toMatchObject({
      status: "accepted",
    });
    await session.refresh();
    await quiet(session);
    expect(endOf(session)).toEqual({ control: "Done", results: [true, true, true] });
    expect(scene.counter.runs.map(({ tool }) => tool).toSorted()).toEqual(["look", "pay", "ship"]);
    await checkSound(session, scene.log());
    await Promise.all([session.close(), human.close()]);
  });
});

describe("the same approval", () => {
  it("is answered twice at once from two processes: the first wins, the other one gets the name of the first", async () => {
    const scene = sceneOf([[call("pay")]], asking("pay"));
    const session = await begun(scene);
    const [ada, bob] = [await scene.post(), await scene.post()];
    const receipts = await Promise.all([
      ada.decide(questionOn(ada, "pay"), "approve", "ada"),
      bob.decide(questionOn(bob, "pay"), { reject: "No." }, "bob"),
    ]);
    expect(receipts).toEqual([
      { status: "accepted", seq: expect.any(Number) },
      { status: "ignored", reason: "already-decided", decidedBy: "ada" },
    ]);
    await session.refresh();
    await quiet(session);
    expect(session.current().toolCalls["call_1"]?.decision).toMatchObject({ type: "approved", by: "ada" });
    expect(countOf(scene, "pay")).toBe(1);
    await checkSound(session, scene.log());
    await Promise.all([session.close(), ada.close(), bob.close()]);
  });
});

describe("one approved and one rejected", () => {
  it("runs the one, and the model reads of both", async () => {
    const scene = sceneOf([[call("pay"), call("ship")]], asking("pay", "ship"));
    const session = await begun(scene);
    await session.decide(questionOn(session, "ship"), { reject: "Too early." }, "ada");
    await session.decide(questionOn(session, "pay"), "approve", "ada");
    await quiet(session);
    expect(endOf(session)).toEqual({ control: "Done", results: [true, false] });
    expect(session.current().toolCalls["call_2"]?.result).toMatchObject({
      error: expect.stringContaining("Too early."),
    });
    expect([countOf(scene, "pay"), countOf(scene, "ship")]).toEqual([1, 0]);
    expect(problemsAfter(session.current())).toEqual([]);
    await checkSound(session, scene.log());
    await session.close();
  });
});

describe("a malformed answer, then the right one", () => {
  it("is refused and leaves the question open; the right one is taken", async () => {
    const scene = sceneOf([[call("pay")]], asking("pay"));
    const session = await begun(scene);
    const human = await scene.post();
    const question = questionOn(human, "pay");
    const { seq } = session.info();
    const said: readonly unknown[] = [
      "yes",
      null,
      {},
      { reject: 1 },
      { approve: { of: "much" } },
      { approve: () => 1 },
    ];
    // What a host without types may say.
    for (const decision of said) {
      await expect(human.decide(question, decision as "approve")).rejects.toThrow(
        expect.objectContaining({ name: "InputRefused" }),
      );
    }
    expect(await human.decide({ ...question, digest: "forged" }, "approve")).toEqual({
      status: "ignored",
      reason: "digest-mismatch",
    });
    await session.refresh();
    expect(session.info().seq).toBe(seq);
    expect(session.questions()).toEqual([question]);
    expect(await human.decide(question, { approve: { of: 2 } }, "ada")).toMatchObject({ status: "accepted" });
    await session.refresh();
    await quiet(session);
    expect(scene.counter.runs.map(({ args }) => args)).toEqual(['{"of":2}']);
    await checkSound(session, scene.log());
    await Promise.all([session.close(), human.close()]);
  });
});

describe("two concurrent resumes of one session", () => {
  it("end with one owner: the other one gets its name, and every call runs once", async () => {
    const scene = sceneOf([[call("pay"), call("send")]], asking("pay", "send"));
    await (await begun(scene)).close();
    const opened = await Promise.allSettled([
      scene.open({ owner: "one" }),
      scene.open({ owner: "two" }),
      scene.open({ owner: "three" }),
    ]);
    const [session, ...others] = opened.flatMap((result) =>
      result.status === "fulfilled" ? [result.value] : [],
    );
    if (session === undefined) throw new Error("The session has no owner.");
    expect(others).toEqual([]);
    const owner = session.current().owner;
    for (const result of opened)
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "SessionBusy", owner });
    for (const question of session.questions()) await session.decide(question, "approve");
    await quiet(session);
    expect([countOf(scene, "pay"), countOf(scene, "send")]).toEqual([1, 1]);
    await checkSound(session, scene.log());
    await session.close();
  });

  it("of one name end with the last one: the first learns that it was taken over", async () => {
    const scene = sceneOf([[call("pay"), call("send")]], asking("pay", "send"));
    await (await begun(scene)).close();
    const errors = new HeardErrors();
    const options = { owner: "worker", onError: errors.onError };
    const both = await Promise.all([scene.open(options), scene.open(options)]);
    await Promise.all(both.map((session) => session.refresh()));
    const running = both.filter((session) => session.info().access === "run");
    const [session] = running;
    if (session === undefined) throw new Error("The session has no owner.");
    expect(running).toHaveLength(1);
    const stale = both.find((other) => other !== session);
    expect(stale?.info()).toMatchObject({
      access: "read",
      lastError: { code: "StaleWriter", owner: "worker" },
    });
    await expect(stale?.send("Hello?")).rejects.toMatchObject({ code: "StaleWriter" });
    await stale?.close();
    expect(new Set(errors.codes)).toEqual(new Set(["StaleWriter"]));
    for (const question of session.questions()) await session.decide(question, "approve");
    await quiet(session);
    expect([countOf(scene, "pay"), countOf(scene, "send")]).toEqual([1, 1]);
    // The one that closed has not given back the other's right to run.
    await expect(scene.open({ owner: "another" })).rejects.toMatchObject({
      code: "SessionBusy",
      owner: "worker",
    });
    await checkSound(session, scene.log());
    await session.close();
    expect(scene.clock.waiting).toBe(0);
  });
});
