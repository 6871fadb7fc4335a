import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import {
  defineAgent,
  forkSession,
  openSession,
  stateAt,
  verifySession,
  type OpenWork,
} from "../../src/index.ts";
import { call } from "@moora/testbed/durable/counting-agent";
import { driveToEnd, quiet } from "@moora/testbed/durable/drive";
import { problemsAfter } from "@moora/testbed/durable/outcome";
import { checkSound, sceneOf, type Scene } from "@moora/testbed/durable/scene";
import { callsThenAnswers, never, questionOf, Restarts, textOf } from "../restarts/restarts.ts";
import { toolOf } from "../support.ts";
import { recordsOf, recordSession } from "./record-session.ts";
import { graphOf } from "@moora/testbed/graph-of";

/** A batch of four calls, two of which ask, and a step after it. */
const script = [[call("look"), call("pay"), call("ship", 3), call("sign")], [call("look", 2)]];
const config = { approval: { policy: { tools: ["pay"] } } } as const;

async function recorded(): Promise<Scene> {
  const scene = sceneOf(script, config);
  await recordSession(scene);
  return scene;
}

const inputsOf = async (scene: Scene, id = "ada"): Promise<readonly AgentInput[]> =>
  (await recordsOf(scene.log(), id)).map(({ body }) => JSON.parse(body));

const resultsIn = ({ toolCalls }: AgentState): readonly unknown[] =>
  Object.values(toolCalls).map(({ result }) => (result?.isSuccess === true ? result.content : result?.code));

/** Opens a fork as any session is opened, and brings it to its end. */
async function livedOn({ agent, log, clock }: Scene, id: string): Promise<AgentState> {
  const session = await openSession(agent, { log: log(), id, clock });
  await driveToEnd(session, { says: ["Please."], decide: () => "approve" }, clock);
  await checkSound(session, log());
  await session.close();
  return (await stateAt(log(), id)).state;
}

const rules: readonly OpenWork[] = ["reuse", "rerun", "close"];

describe.each(rules)("a fork that settles open work by the rule %s", (open) => {
  it("is a sound session of its own at every position, and ends; the original is not changed", async () => {
    const scene = await recorded();
    const original = await recordsOf(scene.log());
    const settled = new Set<string>();
    for (const { seq } of original) {
      const as = `${open} ${seq}`;
      const before = (await stateAt(scene.log(), "ada", seq)).state;
      const forked = await forkSession(scene.log(), "ada", seq, { as, open });
      expect(forked, as).toMatchObject({ id: as, dropped: 0 });
      expect((await stateAt(scene.log(), as)).state, as).toEqual(forked.state);
      expect(await verifySession(scene.log(), as), as).toMatchObject({ ok: true, seq: forked.seq });
      for (const [id, { result }] of Object.entries(before.toolCalls))
        if (result !== null) expect(forked.state.toolCalls[id]?.result, as).toEqual(result);
      // The reviewer of the original rejects nothing.
      for (const { result } of Object.values(forked.state.toolCalls))
        expect(textOf(result), as).not.toMatch(/human|person/i);
      const state = await livedOn(scene, as);
      expect(["Done", "Error"], as).toContain(state.reActContext.control.type);
      expect(problemsAfter(state), as).toEqual([]);
      settled.add(JSON.stringify(resultsIn(state).slice(0, 4)));
    }
    expect(await recordsOf(scene.log())).toEqual(original);
    const ran = JSON.stringify(['{"look":1}', '{"pay":1}', '{"ship":3}', '{"sign":1}']);
    expect(settled.has(ran)).toBe(true);
    if (open === "rerun") expect(settled.size).toBe(1);
    // Of an answer that the original got after the fork, the calls that it has begun have no known outcome.
    const unknown = /^\["\{\\"look\\":1\}"(,("outcome-unknown"|"\{\\"\w+\\":\d\}")){3}\]$/;
    if (open === "reuse") for (const results of settled) expect(results).toMatch(unknown);
  });
});

/** Where the first result of the batch has come, and others are under way or asked about. */
async function withinBatch(scene: Scene): Promise<number> {
  const inputs = await inputsOf(scene);
  return 1 + inputs.findIndex(({ type }) => type === "tool-call-completed");
}

describe("a fork within a batch of calls", () => {
  it("that reuses takes results and decisions from the record: no call is made again", async () => {
    const scene = await recorded();
    const ran = scene.counter.runs.length;
    const seq = await withinBatch(scene);
    const { state } = await forkSession(scene.log(), "ada", seq, { as: "again", open: "reuse" });
    expect(resultsIn(state)).toEqual(['{"look":1}', '{"pay":1}', '{"ship":3}', '{"sign":1}']);
    expect(state.toolCalls["call_2"]?.decision).toMatchObject({ type: "approved", by: "ada" });
    await livedOn(scene, "again");
    // The step after the batch is not open work: it is taken anew.
    expect(scene.counter.runs.slice(ran).map(({ tool, args }) => [tool, args])).toEqual([
      ["look", '{"of":2}'],
    ]);
  });

  it("that reuses an answer which the original got later runs none of its calls again without a person, but those that are safe", async () => {
    const scene = await recorded();
    const ran = scene.counter.runs.length;
    const inputs = await inputsOf(scene);
    const message = 1 + inputs.findIndex(({ type }) => type === "user-message-received");
    const { state } = await forkSession(scene.log(), "ada", message, { as: "again", open: "reuse" });
    expect(Object.keys(state.toolCalls)).toHaveLength(4);
    await livedOn(scene, "again");
    const again = scene.counter.runs.slice(ran).filter(({ tool }) => tool !== "look");
    // The calls that ask were approved after the answer. They ask again, and a person approves them here.
    expect(again.map(({ tool }) => tool)).toEqual(["pay", "sign"]);
  });

  it("that runs again makes the calls under keys of its own, and asks again", async () => {
    const scene = await recorded();
    const ran = scene.counter.runs.length;
    const forked = await forkSession(scene.log(), "ada", await withinBatch(scene), {
      as: "again",
      open: "rerun",
    });
    expect(forked.state.reActContext.control.type).toBe("WaitingForHuman");
    await livedOn(scene, "again");
    const again = scene.counter.runs.slice(ran);
    expect(again.map(({ tool }) => tool).toSorted()).toEqual(["look", "pay", "ship", "sign"].toSorted());
    const keys = new Set(scene.counter.runs.slice(0, ran).map(({ key }) => key));
    for (const { key } of again) expect(keys.has(key)).toBe(false);
  });

  it("that reuses takes the expiry of a question from the record, whatever the id of the call is", async () => {
    const approval = { policy: { tools: ["pay"] }, expiresAfterMs: 10_000 } as const;
    const scene = sceneOf([[call("look"), call("pay")]], { approval });
    await recordSession(scene, ["Please."], () => scene.clock.advanceAsync(10_000));
    const renamed = (input: AgentInput): AgentInput =>
      JSON.parse(JSON.stringify(input).replaceAll("call_2", "pay/call_2"));
    const last = (await recordsOf(scene.log())).length;
    await forkSession(scene.log(), "ada", last, { as: "renamed", open: "close", edit: renamed });
    const inputs = await inputsOf(scene, "renamed");
    const asked = inputs.findIndex(({ type }) => type === "deadline-passed");
    expect(inputs[asked]).toMatchObject({ key: "wait/ask/pay/call_2/1/expiry" });
    const forked = await forkSession(scene.log(), "renamed", asked, { as: "fork", open: "reuse" });
    expect(forked.state.toolCalls["pay/call_2"]?.result).toMatchObject({ code: "expired" });
  });

  it("that closes settles each open call, and says of each question who closed it", async () => {
    const scene = await recorded();
    const seq = await withinBatch(scene);
    const { state } = await forkSession(scene.log(), "ada", seq, { as: "again", open: "close" });
    expect(state.reActContext.control.type).toBe("Planning");
    expect(Object.values(state.toolCalls).map(({ result }) => result?.isSuccess)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(state.toolCalls["call_2"]?.decision).toMatchObject({ type: "rejected", by: "fork" });
    expect(problemsAfter(state)).toEqual([]);
  });

  it("that closes never says of a call that had begun that it was not run", async () => {
    const world = new Restarts();
    const execute = (): Promise<never> => never();
    const tools = [toolOf("pay", execute, { onUnknown: "ask" }), toolOf("ship", execute)];
    const agent = defineAgent({
      llm: callsThenAnswers({ name: "pay" }, { name: "ship" }),
      tools,
      config: { toolCalls: { parallel: false } },
    });
    await world.crash(agent);
    const closedNow = async (as: string): Promise<AgentState> => {
      const { length } = await world.types();
      return (await forkSession(world.log, "ada", length, { as, open: "close" })).state;
    };
    const running = await closedNow("running");
    expect(resultsIn(running)).toEqual(["outcome-unknown", "not-run"]);
    await using session = await world.open(agent);
    expect(questionOf(session).about).toBe("outcome");
    const asked = await closedNow("asked");
    expect(asked.toolCalls["call_1"]?.result).toMatchObject({ code: "outcome-unknown" });
    expect(asked.toolCalls["call_1"]?.decision).toMatchObject({ type: "unknown", by: "fork" });
    expect(problemsAfter(asked)).toEqual([]);
  });

  it.each([
    ["reuse", 1],
    ["rerun", 2],
  ] as const)("within the handler of a custom state settles it by the rule %s", async (open, runs) => {
    let ran = 0;
    const handle = (): string => ((ran += 1), "Charged");
    const agent = defineAgent({
      llm: new MockLlmCaller(() => answers("done")),
      config: {
        graph: graphOf({ Planning: { LlmFinalAnswer: "Charge" }, Charge: { Charged: "Done" } }),
      },
      states: { Charge: { replay: "once", handle } },
    });
    const world = new Restarts();
    const first = await world.open(agent);
    await first.ask("go");
    await first.close();
    const begun = await world.seqOf("state-handler-started");
    await forkSession(world.log, "ada", begun, { as: "again", open });
    await using fork = await world.open(agent, { id: "again" });
    expect(ran).toBe(runs);
    expect(fork.current().reActContext.control.type).toBe("Done");
    expect(await verifySession(world.log, "again")).toMatchObject({ ok: true });
  });

  it("does not approve for the original, nor the original for it: questions bind to their session", async () => {
    const scene = sceneOf(script, config);
    await using session = await scene.open();
    await session.send("Please.");
    await quiet(session);
    await forkSession(scene.log(), "ada", session.info().seq, { as: "again", open: "rerun" });
    await using other = await scene.open({ id: "again" });
    await quiet(other);
    const [here] = session.questions();
    const [there] = other.questions();
    expect(there).toMatchObject({ toolCallId: here?.toolCallId, name: here?.name });
    if (here === undefined || there === undefined) throw new Error("Nothing is asked.");
    expect(await session.decide(there, "approve")).toMatchObject({ reason: "digest-mismatch" });
    expect(await other.decide(here, "approve")).toMatchObject({ reason: "digest-mismatch" });
  });
});

describe("a fork with an edit", () => {
  it("has what was said otherwise, and the model answers that", async () => {
    const scene = await recorded();
    const seq = await withinBatch(scene);
    const forked = await forkSession(scene.log(), "ada", seq, {
      as: "otherwise",
      open: "reuse",
      edit: (input) =>
        input.type === "tool-call-completed" && input.result.isSuccess
          ? { ...input, result: { ...input.result, content: '{"look":"something else"}' } }
          : input,
    });
    expect(forked.dropped).toBe(0);
    expect(resultsIn(forked.state)[0]).toBe('{"look":"something else"}');
    expect(await verifySession(scene.log(), "otherwise")).toMatchObject({ ok: true });
    const state = await livedOn(scene, "otherwise");
    expect(state.reActContext.control.type).toBe("Done");
    expect(resultsIn((await stateAt(scene.log(), "ada")).state)[0]).toBe('{"look":1}');
  });

  it("asks about the call as it was edited: who saw it otherwise has not approved it (H01)", async () => {
    const scene = await recorded();
    const seq = await withinBatch(scene);
    const same = (input: AgentInput): AgentInput => input;
    const raised = (input: AgentInput): AgentInput => {
      if (input.type !== "re-act-observed" || input.observation.type !== "continue-re-act") return input;
      const { call_2: pay, ...others } = input.observation.toolCalls;
      if (pay === undefined) return input;
      const toolCalls = { ...others, call_2: { ...pay, parameters: '{"of":99}' } };
      return { ...input, observation: { type: "continue-re-act", toolCalls } };
    };
    const questions = await Promise.all(
      [same, raised].map(async (edit, index) => {
        const as = `edited ${index}`;
        await forkSession(scene.log(), "ada", seq, { as, open: "rerun", edit });
        const session = await openSession(scene.agent, { log: scene.log(), id: as, access: "post" });
        const question = session.questions().find(({ name }) => name === "pay");
        await session.close();
        return question;
      }),
    );
    expect(questions.map((question) => question?.parameters)).toEqual([{ of: 1 }, { of: 99 }]);
    await using session = await openSession(scene.agent, {
      log: scene.log(),
      id: "edited 1",
      access: "post",
    });
    const [seen, meant] = questions;
    if (seen === undefined || meant === undefined) throw new Error("Nothing is asked.");
    expect(await session.decide(seen, "approve")).toMatchObject({ reason: "digest-mismatch" });
    expect(await session.decide(meant, "approve")).toMatchObject({ status: "accepted" });
  });

  it("counts what does no longer apply where something was left out", async () => {
    const scene = await recorded();
    const inputs = await inputsOf(scene);
    const forked = await forkSession(scene.log(), "ada", inputs.length, {
      as: "silent",
      open: "reuse",
      edit: (input) => (input.type === "user-message-received" ? null : input),
    });
    expect(forked.state.messages).toEqual([]);
    expect(forked.dropped).toBeGreaterThan(5);
    // Without the message, and without the record of the snapshot, which was taken of the other session.
    expect(forked.seq).toBe(inputs.length - 2 - forked.dropped);
    expect(await verifySession(scene.log(), "silent")).toMatchObject({ ok: true });
  });

  it("refuses an input that the edit changed in place to an invalid one, and leaves the original as it was", async () => {
    const scene = await recorded();
    const edit = (input: AgentInput): AgentInput => Object.assign(input, { timestamp: "soon" });
    await expect(
      forkSession(scene.log(), "ada", 3, { as: "in place", open: "close", edit }),
    ).rejects.toMatchObject({ name: "InputRefused" });
    expect(await verifySession(scene.log(), "ada")).toMatchObject({ ok: true });
  });

  it("refuses an edit that gives no input, and leaves nothing behind", async () => {
    const scene = await recorded();
    const edit = (input: AgentInput): AgentInput => ({ ...input, timestamp: Number.NaN });
    await expect(
      forkSession(scene.log(), "ada", 4, { as: "bad", open: "close", edit }),
    ).rejects.toMatchObject({ name: "InputRefused" });
    expect(await scene.log().open("bad")).toBeUndefined();
    await expect(forkSession(scene.log(), "ada", 4, { as: "ada", open: "close" })).rejects.toMatchObject({
      code: "LogExists",
    });
  });
});
