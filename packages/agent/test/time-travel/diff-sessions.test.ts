import { describe, expect, it } from "vitest";
import { diffSessions, differencesOf, forkSession, openSession } from "../../src/index.ts";
import { call } from "@moora/testbed/durable/counting-agent";
import { quiet } from "@moora/testbed/durable/drive";
import { sceneOf } from "@moora/testbed/durable/scene";
import { recordsOf, recordSession } from "./record-session.ts";

const script = [[call("look"), call("pay")]];
const config = { approval: { policy: { tools: ["pay"] } } } as const;

describe("the difference of two runs", () => {
  it("is empty where only times, owners and random ids differ", async () => {
    const [one, other] = [sceneOf(script, config), sceneOf(script, config)];
    await recordSession(one);
    await other.clock.advanceAsync(5_000);
    await recordSession(other);
    const [a, b] = [one.log(), other.log()];
    expect(await recordsOf(a)).not.toEqual(await recordsOf(b));
    const diff = await diffSessions({ log: a, id: "ada" }, { log: b, id: "ada" });
    expect(diff).toEqual({ common: (await recordsOf(a)).length, a: undefined, b: undefined, state: [] });
  });

  it("is empty where one of them was closed and opened in between, and so has records of snapshots", async () => {
    const scene = sceneOf(script, config);
    await recordSession(scene);
    const log = scene.log();
    const { length } = await recordsOf(log);
    await forkSession(log, "ada", length, { as: "copy", open: "reuse" });
    expect(await recordsOf(log, "copy")).toHaveLength(length - 1);
    const [ada, copy] = [
      { log, id: "ada" },
      { log, id: "copy" },
    ];
    expect(await diffSessions(ada, copy)).toEqual({ common: length, a: undefined, b: undefined, state: [] });
    expect(await diffSessions(copy, ada)).toMatchObject({ common: length - 1, a: undefined, b: undefined });
  });

  it("begins with the first record that is not the same, and shows where the states differ", async () => {
    const scene = sceneOf(script, config);
    const session = await scene.open();
    session.onEvent(() => undefined); // shows its question
    await session.send("Please.");
    await quiet(session);
    const { seq } = session.info();
    await forkSession(scene.log(), "ada", seq, { as: "other", open: "rerun" });
    const other = await openSession(scene.agent, { log: scene.log(), id: "other", clock: scene.clock });
    other.onEvent(() => undefined);
    const [here] = session.questions();
    const [there] = other.questions();
    if (here === undefined || there === undefined) throw new Error("Nothing is asked.");
    await session.decide(here, "approve", "ada");
    await other.decide(there, { reject: "Too dear." }, "ada");
    for (const one of [session, other]) {
      await quiet(one);
      await one.close();
    }
    const log = scene.log();
    const diff = await diffSessions({ log, id: "ada" }, { log, id: "other" });
    const opened = (await recordsOf(log, "other")).findIndex(
      ({ body }, index) => index > 0 && body.includes('"session-opened"'),
    );
    expect(diff.common).toBe(opened);
    expect(diff.a).toMatchObject({ type: "tool-call-decided", decision: { type: "approved" } });
    expect(diff.b).toMatchObject({ type: "session-opened" });
    expect(diff.state.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["toolCalls.call_2.decision.type", "toolCalls.call_2.result.isSuccess"]),
    );
    expect(diff.state.find(({ path }) => path === "toolCalls.call_2.decision.type")).toEqual({
      path: "toolCalls.call_2.decision.type",
      a: "approved",
      b: "rejected",
    });
    const before = await diffSessions({ log, id: "ada", seq }, { log, id: "other", seq });
    expect(before).toMatchObject({ common: seq, a: undefined, b: undefined });
  });
});

describe("differences of values", () => {
  it("are reported by their paths, in order, up to a number; a missing value is undefined", () => {
    const a = { same: 1, list: [1, { deep: "x" }, 3], gone: null, kind: [] };
    const b = { same: 1, list: [1, { deep: "y" }], kind: {}, come: false };
    expect(differencesOf(a, b)).toEqual([
      { path: "list[1].deep", a: "x", b: "y" },
      { path: "list[2]", a: 3, b: undefined },
      { path: "gone", a: null, b: undefined },
      { path: "kind", a: [], b: {} },
      { path: "come", a: undefined, b: false },
    ]);
    expect(differencesOf(a, b, 2)).toHaveLength(2);
    expect(differencesOf(Number.NaN, Number.NaN)).toEqual([]);
  });
});
