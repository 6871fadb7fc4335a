import { isPaused, type AgentState } from "@moora/agent-core-state-machine";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  defineAgent,
  diffSessions,
  forkSession,
  rerunSession,
  stateAt,
  verifySession,
  type Agent,
  type OpenWork,
  type Tool,
} from "../../src/index.ts";
import { callsThenAnswers, never, Restarts, resultOf, textOf, turns } from "../restarts/restarts.ts";
import { toolOf } from "../support.ts";

const typeOf = ({ reActContext }: AgentState): string => reActContext.control.type;

/** A tool whose first run never ends. */
function hangingTool(policy: Parameters<typeof toolOf>[2]): {
  readonly tool: Tool;
  readonly runs: () => number;
} {
  let runs = 0;
  const tool = toolOf("work", () => ((runs += 1) === 1 ? never() : `run ${runs}`), policy);
  return { tool, runs: () => runs };
}

/** Sends a message, pauses, crashes, and is resumed by the next process until it ends. Returns the record of the pause. */
async function pausedThenResumed(world: Restarts, agent: Agent): Promise<number> {
  await world.crash(agent);
  const first = await world.open(agent, { access: "post" });
  await first.pause("hold");
  await first.close();
  const pausedAt = (await world.types()).length;
  const second = await world.open(agent);
  await second.resume();
  await untilPasses(() => expect(typeOf(second.current())).toBe("Done"));
  await second.close();
  return pausedAt;
}

/** Forks, opens the fork, and lets it do what it wants. */
async function openedFork(world: Restarts, agent: Agent, seq: number, open: OpenWork) {
  const forked = await forkSession(world.log, "ada", seq, { as: open, open });
  expect(await verifySession(world.log, open)).toMatchObject({ ok: true });
  const session = await world.open(agent, { id: open });
  await turns();
  return { forked, session };
}

describe.each(["reuse", "rerun", "close"] as const)("a fork of a paused session by the rule %s", (open) => {
  it("stays paused until it is resumed itself, although the original was resumed later", async () => {
    const world = new Restarts();
    const { tool, runs } = hangingTool({ replay: "safe" });
    const agent = defineAgent({ llm: callsThenAnswers({ name: "work" }), tools: [tool] });
    const seq = await pausedThenResumed(world, agent);
    const before = runs();
    const { forked, session } = await openedFork(world, agent, seq, open);
    expect(forked.state.paused).toMatchObject({ reason: "hold" });
    expect(session.current().paused).toEqual(forked.state.paused);
    expect(runs()).toBe(before);
    expect(typeOf(session.current())).not.toBe("Done");
    const run = session.running();
    await session.resume();
    expect((await run)?.text).toBe("done");
    await session.close();
  });
});

describe("a fork at any record", () => {
  it.each(["reuse", "rerun", "close"] as const)(
    "is paused where the session was, by the rule %s",
    async (open) => {
      const world = new Restarts();
      const { tool } = hangingTool({ replay: "safe" });
      const agent = defineAgent({ llm: callsThenAnswers({ name: "work" }), tools: [tool] });
      await pausedThenResumed(world, agent);
      const found = new Set<boolean>();
      for (let seq = 1; seq <= (await world.types()).length; seq += 1) {
        const isPausedThere = isPaused((await stateAt(world.log, "ada", seq)).state);
        found.add(isPausedThere);
        const { state } = await forkSession(world.log, "ada", seq, { as: `${seq}`, open });
        expect(isPaused(state), `record ${seq}`).toBe(isPausedThere);
      }
      expect(found).toEqual(new Set([true, false]));
    },
  );
});

describe("a fork that reuses, of a paused session", () => {
  it("has the result of an attempt that the original started after its resume", async () => {
    const world = new Restarts();
    const { tool } = hangingTool({ replay: "safe" });
    const agent = defineAgent({ llm: callsThenAnswers({ name: "work" }), tools: [tool] });
    const seq = await pausedThenResumed(world, agent);
    const { state } = await forkSession(world.log, "ada", seq, { as: "again", open: "reuse" });
    expect(textOf(resultOf(state))).toBe("run 2");
    expect(state.paused).toMatchObject({ reason: "hold" });
    const records = (await (await world.log.open("again"))?.read()) ?? [];
    expect(records.filter(({ body }) => body.includes('"session-resumed"'))).toEqual([]);
  });

  it("does not run a call again that the original started after its resume and lost in a crash", async () => {
    const world = new Restarts();
    const { tool, runs } = hangingTool({ replay: "once" });
    const agent = defineAgent({ llm: callsThenAnswers({ name: "work" }), tools: [tool] });
    // The session is paused before the call starts: while the model works.
    const asked = Promise.withResolvers<void>();
    const llm = new MockLlmCaller(async (request) => {
      await asked.promise;
      return callsThenAnswers({ name: "work" }).callSync(request);
    });
    const first = await world.open(defineAgent({ llm, tools: [tool] }));
    first.ask("go").then(undefined, () => undefined);
    await turns();
    await first.pause("hold");
    asked.resolve();
    await untilPasses(() => expect(typeOf(first.current())).toBe("Acting"));
    const seq = (await world.types()).length;
    await first.resume();
    await untilPasses(() => expect(runs()).toBe(1));
    const second = await world.open(agent);
    await untilPasses(() => expect(typeOf(second.current())).toBe("Done"));
    await second.close();
    const { forked, session } = await openedFork(world, agent, seq, "reuse");
    expect(resultOf(forked.state)).toMatchObject({ code: "outcome-unknown" });
    expect(forked.state.paused).toMatchObject({ reason: "hold" });
    await session.resume();
    await untilPasses(() => expect(typeOf(session.current())).toBe("Done"));
    expect(runs()).toBe(1);
    await session.close();
  });

  it("has the answer of a model call that the original started again after a crash and its resume", async () => {
    const world = new Restarts();
    const hanging = defineAgent({ llm: new MockLlmCaller(() => never()) });
    const first = await world.open(hanging);
    await first.pause("hold");
    first.ask("go").then(undefined, () => undefined);
    await turns();
    const seq = (await world.types()).length;
    await first.resume();
    await turns();
    const second = await world.open(defineAgent({ llm: new MockLlmCaller(() => answers("done")) }));
    await untilPasses(() => expect(typeOf(second.current())).toBe("Done"));
    await second.close();
    const { state } = await forkSession(world.log, "ada", seq, { as: "again", open: "reuse" });
    expect(typeOf(state)).toBe("Done");
    expect(state.messages.at(-1)?.content).toBe("done");
    expect(state.paused).toMatchObject({ reason: "hold" });
  });
});

describe("a fork that reuses", () => {
  it("leaves a model call open that a change of the configuration replaced, and has none of its records", async () => {
    const world = new Restarts();
    const agent = defineAgent({
      llm: new MockLlmCaller(({ system }) => (system === "Be brief." ? answers("Brief.") : never())),
    });
    const session = await world.open(agent);
    session.ask("go").then(undefined, () => undefined);
    await turns();
    const seq = (await world.types()).indexOf("user-message-received") + 1;
    await session.configure({ systemPrompt: "Be brief." });
    await untilPasses(() => expect(typeOf(session.current())).toBe("Done"));
    await session.close();
    const forked = await forkSession(world.log, "ada", seq, { as: "again", open: "reuse" });
    expect(forked.seq).toBe(seq);
    expect(forked.state.config.systemPrompt).not.toBe("Be brief.");
    expect(typeOf(forked.state)).toBe("Planning");
  });
});

describe("a rerun from a record of a paused session", () => {
  it("is resumed where the original was", async () => {
    const world = new Restarts();
    const { tool, runs } = hangingTool({ replay: "safe" });
    const agent = defineAgent({ llm: callsThenAnswers({ name: "work" }), tools: [tool] });
    const seq = await pausedThenResumed(world, agent);
    const before = runs();
    const { state, differences } = await rerunSession(agent, world.log, "ada", { from: seq });
    expect(typeOf(state)).toBe("Done");
    expect(state.paused).toBeNull();
    expect(differences).toEqual([]);
    expect(runs()).toBe(before);
  });
});

describe("the difference of two sessions", () => {
  it("is empty where only the times and request ids of their pauses differ", async () => {
    const world = new Restarts();
    const agent = defineAgent({ llm: callsThenAnswers() });
    for (const id of ["a", "b"]) {
      await using session = await world.open(agent, { id });
      await world.clock.advanceAsync(1_000);
      await session.pause("hold", `req-${id}`);
    }
    const [a, b] = ["a", "b"].map((id) => ({ log: world.log, id }));
    if (a === undefined || b === undefined) throw new Error("There are two.");
    expect(await diffSessions(a, b)).toMatchObject({ a: undefined, b: undefined, state: [] });
  });
});
