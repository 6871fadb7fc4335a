import type { AgentConfigChange, AgentState } from "@moora/agent-core-state-machine";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { rerunSession, type Agent } from "../../src/index.ts";
import { Counter } from "@moora/testbed/durable/counter";
import { call, countingAgent, scripted, type Script } from "@moora/testbed/durable/counting-agent";
import { Life } from "@moora/testbed/durable/mortal-log";
import { sceneOf, type Scene } from "@moora/testbed/durable/scene";
import { recordsOf, recordSession } from "./record-session.ts";

const script = [[call("look"), call("pay")], [call("pay", 2)]];
const config = { approval: { policy: { tools: ["pay"] } } } as const;

async function recorded(): Promise<Scene> {
  const scene = sceneOf(script, config);
  await recordSession(scene, ["First.", "Second."], async (session) => {
    for (let [question] = session.questions(); question !== undefined; [question] = session.questions()) {
      const isDear = JSON.stringify(question.parameters) === '{"of":2}';
      await session.decide(question, isDear ? { reject: "Too dear." } : "approve", "ada");
      await session.settled();
    }
  });
  return scene;
}

const another = (counter: Counter, other: Script, changes: AgentConfigChange = {}): Agent =>
  countingAgent({ counter, life: new Life(), deeds: new Set() }, scripted(other), { ...config, ...changes });

const lastOf = async ({ log }: Scene): Promise<number> => (await recordsOf(log())).length;

describe("a run that is run again", () => {
  it("has the same result from every position with the same agent: tools and reviewers answer as recorded, and nothing is done", async () => {
    const scene = await recorded();
    const [ran, before] = [scene.counter.runs, await recordsOf(scene.log())];
    for (let from = 0; from <= before.length; from += 1) {
      const rerun = await rerunSession(scene.agent, scene.log(), "ada", { from, clock: scene.clock });
      expect(rerun.differences, `from ${from}`).toEqual([]);
      expect(rerun.unrecordedCalls, `from ${from}`).toBe(0);
    }
    expect(scene.counter.runs).toEqual(ran);
    expect(await recordsOf(scene.log())).toEqual(before);
  });

  it("shows what another prompt makes of it from some record on, and nothing else", async () => {
    const scene = await recorded();
    using counter = new Counter();
    const llm = new MockLlmCaller((request) =>
      request.system === "Be brief." ? answers("Brief.") : scripted(script).callSync(request),
    );
    const systemPrompt = "Be brief.";
    const agent = countingAgent({ counter, life: new Life(), deeds: new Set() }, llm, {
      ...config,
      systemPrompt,
    });
    const second = (await recordsOf(scene.log())).findIndex(({ body }) => body.includes("Second."));
    const {
      differences,
      state,
      recorded: was,
    } = await rerunSession(agent, scene.log(), "ada", { from: second });
    const said = (of: AgentState): readonly string[] => of.messages.map(({ content }) => content);
    const last = "That is all that I have found out.";
    expect(said(was.state)).toEqual(["First.", last, "Second.", last]);
    expect(said(state)).toEqual(["First.", last, "Second.", "Brief."]);
    expect(differences).toContainEqual({ path: "messages[3].content", a: last, b: "Brief." });
    expect(
      differences.some(({ path }) => path === "toolCalls.call_4" || path.startsWith("toolCalls.call_4.")),
    ).toBe(true);
    expect(differences.some(({ path }) => path.startsWith("toolCalls.call_1"))).toBe(false);
    expect(counter.runs).toEqual([]);
  });

  it("fails a call that was never recorded, unless it may run it", async () => {
    const scene = await recorded();
    for (const unrecorded of ["fail", "run"] as const) {
      using counter = new Counter();
      const agent = another(counter, [[call("look"), call("echo")], [call("look", 7)]]);
      const { state, unrecordedCalls } = await rerunSession(agent, scene.log(), "ada", {
        from: 0,
        unrecorded,
      });
      const looked = Object.values(state.toolCalls).find(({ parameters }) => parameters === '{"of":7}');
      if (unrecorded === "fail")
        expect(looked?.result).toMatchObject({ isSuccess: false, code: "not-recorded" });
      else expect(looked?.result).toMatchObject({ isSuccess: true, content: '{"look":7}' });
      expect(unrecordedCalls).toBeGreaterThan(0);
      expect(counter.runs.map(({ args }) => args).includes('{"of":7}')).toBe(unrecorded === "run");
      for (const { key } of counter.runs) expect(key.startsWith("ada")).toBe(false);
    }
  });

  it("rejects a question that was not asked then", async () => {
    const scene = await recorded();
    using counter = new Counter();
    const agent = another(counter, [[call("pay", 5)]]);
    const { state } = await rerunSession(agent, scene.log(), "ada", { from: 0 });
    expect(state.toolCalls["call_1"]).toMatchObject({
      decision: { type: "rejected", by: "rerun" },
      result: { isSuccess: false, code: "rejected" },
    });
    expect(counter.runs).toEqual([]);
  });

  it("goes only as far as other limits let it", async () => {
    const scene = await recorded();
    using counter = new Counter();
    const { state, differences } = await rerunSession(
      another(counter, script, { limits: { maxSteps: 1 } }),
      scene.log(),
      "ada",
      { from: 0 },
    );
    expect(state.reActContext.control).toMatchObject({ type: "Error", failure: { kind: "MaxSteps" } });
    expect(differences.some(({ path }) => path.startsWith("reActContext.control"))).toBe(true);
    expect(await lastOf(scene)).toBeGreaterThan(0);
  });
});
