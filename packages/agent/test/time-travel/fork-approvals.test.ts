import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  askHuman,
  defineAgent,
  defineTool,
  forkSession,
  toolAsks,
  verifySession,
  type Agent,
  type DurableSession,
} from "../../src/index.ts";
import {
  callsThenAnswers,
  never,
  questionOf,
  Restarts,
  resultOf,
  textOf,
  turns,
} from "../restarts/restarts.ts";
import { toolOf } from "../support.ts";

/** An agent with a tool whose run does not end, and the number of its runs. */
function payingAgent(policy: Parameters<typeof toolOf>[2]): {
  readonly agent: Agent;
  readonly runs: () => number;
} {
  let runs = 0;
  const pay = (): Promise<string> => {
    runs += 1;
    return never();
  };
  const agent = defineAgent({
    llm: callsThenAnswers({ name: "pay" }),
    tools: [toolOf("pay", pay, policy)],
  });
  return { agent, runs: () => runs };
}

/** Opens a fork of all records, and lets it do what it wants. */
async function openedFork(world: Restarts, agent: Agent, seq: number): Promise<DurableSession> {
  await forkSession(world.log, "ada", seq, { as: "fork", open: "reuse" });
  expect(await verifySession(world.log, "fork")).toMatchObject({ ok: true });
  const fork = await world.open(agent, { id: "fork" });
  await turns();
  return fork;
}

describe.each(["once", "keyed", "safe"] as const)(
  "a fork of a call that is approved, of a tool that runs %s",
  (replay) => {
    it("does not run it where it has not begun: the approval was for the call of the original", async () => {
      const world = new Restarts();
      const { agent, runs } = payingAgent({ replay, approval: "always" });
      await world.crash(agent);
      const post = await world.open(agent, { access: "post" });
      await post.pause("Hold.");
      await post.decide(questionOf(post), "approve");
      const { seq } = post.info();
      await post.close();
      const fork = await openedFork(world, agent, seq);
      await fork.resume();
      await untilPasses(() => expect(resultOf(fork.current())).not.toBeNull());
      expect(textOf(resultOf(fork.current()))).toContain("Not run: the conversation was forked here.");
      expect(runs()).toBe(0);
      await fork.close();
    });
  },
);

describe("a fork of a call that an earlier process has begun", () => {
  it("does not run it again under another idempotency key: its outcome is unknown", async () => {
    const world = new Restarts();
    const { agent, runs } = payingAgent({ replay: "keyed" });
    await world.crash(agent);
    const post = await world.open(agent, { access: "post" });
    await post.pause("Hold.");
    await post.close();
    const next = await world.open(agent);
    const { seq } = next.info();
    await next.close();
    const fork = await openedFork(world, agent, seq);
    await fork.resume();
    await untilPasses(() => expect(resultOf(fork.current())).not.toBeNull());
    expect(textOf(resultOf(fork.current()))).toContain("unknown");
    expect(runs()).toBe(1);
    await fork.close();
  });

  it("does not ask its probe, which knows only the idempotency key of the original", async () => {
    const world = new Restarts();
    const known = new Set<string>();
    const probed: string[] = [];
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      input: { type: "object" },
      execute: async (_, { idempotencyKey }) => {
        known.add(idempotencyKey);
        return await never();
      },
      probe: (_, { idempotencyKey }) => {
        probed.push(idempotencyKey);
        return known.has(idempotencyKey) ? { output: "paid" } : "not-run";
      },
    });
    const agent = defineAgent({ llm: callsThenAnswers({ name: "pay" }), tools: [pay] });
    await world.crash(agent);
    const fork = await openedFork(world, agent, (await world.types()).length);
    expect(textOf(resultOf(fork.current()))).toContain("unknown");
    expect([known.size, probed]).toEqual([1, []]);
    await fork.close();
  });
});

describe("a fork before the start of a call that the original has begun since, and not ended", () => {
  it.each(["once", "keyed"] as const)(
    "does not begin it again where it runs %s: its outcome is unknown",
    async (replay) => {
      const world = new Restarts();
      const { agent, runs } = payingAgent({ replay });
      await world.crash(agent);
      const started = await world.seqOf("tool-call-started");
      const fork = await openedFork(world, agent, started);
      expect(textOf(resultOf(fork.current()))).toContain("unknown");
      expect(runs()).toBe(1);
      await fork.close();
    },
  );

  it("begins it again where it is safe", async () => {
    const world = new Restarts();
    const { agent, runs } = payingAgent({ replay: "safe" });
    await world.crash(agent);
    const fork = await openedFork(world, agent, await world.seqOf("tool-call-started"));
    expect(runs()).toBe(2);
    await fork.close();
  });
});

describe("a fork of a call whose question was answered and that has not continued", () => {
  it.each(["once", "keyed"] as const)(
    "does not continue it where it runs %s: the answer was for one run",
    async (replay) => {
      const world = new Restarts();
      const booked: unknown[] = [];
      const pay = toolOf(
        "pay",
        (_, { asked }) => {
          if (asked === undefined)
            return toolAsks({ question: "Pay?", answer: { type: "string" }, state: null });
          booked.push(asked.reply);
          return "paid";
        },
        { replay },
      );
      const agent = defineAgent({ llm: callsThenAnswers({ name: "pay" }), tools: [pay] });
      await world.crash(agent);
      const post = await world.open(agent, { access: "post" });
      await post.pause("Hold.");
      await post.decide(questionOf(post), { answer: "yes" });
      const { seq } = post.info();
      await post.close();
      const fork = await openedFork(world, agent, seq);
      await fork.resume();
      await untilPasses(() => expect(resultOf(fork.current())).not.toBeNull());
      expect(textOf(resultOf(fork.current()))).toContain("unknown");
      expect(booked).toEqual([]);
      await fork.close();
    },
  );
});

describe("a fork that closes an open question", () => {
  /** A fork of a session whose first call asks a person, and what the model reads of it. */
  async function closedFork(world: Restarts): Promise<{ readonly code?: string; readonly text: string }> {
    const { length } = await world.types();
    const { state } = await forkSession(world.log, "ada", length, { as: "fork", open: "close" });
    expect(await verifySession(world.log, "fork")).toMatchObject({ ok: true });
    expect(state.toolCalls["call_1"]?.decision?.by).toBe("fork");
    const result = resultOf(state);
    return { ...(result?.isSuccess === false ? { code: result.code } : {}), text: textOf(result) };
  }

  it.each([
    ["for an approval", "pay", toolOf("pay", never, { approval: "always" })],
    ["of the model", "ask_human", askHuman()],
  ] as const)("%s says that the call was not run, and names no person", async (_, name, tool) => {
    const world = new Restarts();
    const calls = callsThenAnswers({ name, arguments: { question: "Which size?" } });
    await world.crash(defineAgent({ llm: calls, tools: [tool] }));
    expect(await closedFork(world)).toEqual({
      code: "not-run",
      text: "Not run. The conversation was forked here before a decision.",
    });
  });
});
