import { describe, expect, it } from "vitest";
import type { DurableSession, Question } from "../../src/index.ts";
import { HeardErrors } from "@moora/testbed/durable/errors";
import { call } from "@moora/testbed/durable/counting-agent";
import { quiet } from "@moora/testbed/durable/drive";
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
