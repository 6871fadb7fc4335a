import { effectsAt } from "@moora/agent-core-effects";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  agentTool,
  defineAgent,
  startSession,
  type Agent,
  type HandlerDecision,
  type Session,
  type Tool,
} from "../../src/index.ts";
import { callsThenAnswers, Restarts, resultOf, textOf, turns } from "../restarts/restarts.ts";
import { scene, toolOf } from "../support.ts";

/** A tool that waits until the test ends it. */
function heldTool(name: string): {
  readonly tool: Tool;
  readonly end: () => void;
  readonly runs: () => number;
} {
  const held = Promise.withResolvers<string>();
  let runs = 0;
  const tool = toolOf(name, () => {
    runs += 1;
    return held.promise;
  });
  return { tool, end: () => held.resolve("looked"), runs: () => runs };
}

const stateOf = ({ current }: Session): string => current().reActContext.control.type;

describe("a paused session", () => {
  it("accepts a message, and answers it when it is resumed", async () => {
    const { session, llm, events } = scene([answers("Good morning.")]);
    expect(await session.pause("Until the morning.")).toMatchObject({ status: "accepted" });
    const run = session.ask("Hello.");
    await turns();
    expect(llm.callCount).toBe(0);
    expect(session.current()).toMatchObject({ paused: { reason: "Until the morning.", pausedAt: 1_000 } });
    expect(await session.resume()).toMatchObject({ status: "accepted" });
    expect((await run).text).toBe("Good morning.");
    expect(session.current().paused).toBeNull();
    expect(events.filter(({ type }) => type === "Paused" || type === "Resumed")).toEqual([
      { type: "Paused", reason: "Until the morning." },
      { type: "Resumed" },
    ]);
  });

  it("lets a call end that runs, records its result, and asks the model only when it is resumed", async () => {
    const { tool, end } = heldTool("look");
    const { session, llm } = scene([callsTools([{ name: "look" }]), answers("Seen.")], { tools: [tool] });
    const run = session.ask("Look.");
    await turns();
    await session.pause();
    end();
    await turns();
    expect(textOf(resultOf(session.current()))).toBe("looked");
    expect(llm.callCount).toBe(1);
    expect(Object.keys(effectsAt(session.current()))).toEqual([]);
    await session.resume();
    expect((await run).text).toBe("Seen.");
  });

  it("starts none of the calls that the running model call asks for", async () => {
    const asked = Promise.withResolvers<void>();
    let runs = 0;
    const { session } = scene(
      async ({ messages }) => {
        if (messages.length > 1) return answers("Paid.");
        await asked.promise;
        return callsTools([{ name: "pay" }, { name: "pay" }]);
      },
      { tools: [toolOf("pay", () => `paid ${(runs += 1)}`)] },
    );
    const run = session.ask("Pay.");
    await turns();
    await session.pause();
    asked.resolve();
    await untilPasses(() => expect(stateOf(session)).toBe("ParallelActing"));
    await turns();
    expect(runs).toBe(0);
    await session.resume();
    expect((await run).text).toBe("Paid.");
    expect(runs).toBe(2);
  });

  it("takes answers to its questions, and runs the approved call when it is resumed", async () => {
    let runs = 0;
    const pay = toolOf("pay", () => `paid ${(runs += 1)}`);
    const { session } = scene([callsTools([{ name: "pay" }]), answers("Paid.")], {
      tools: [pay],
      config: { approval: { policy: "always" } },
    });
    const run = session.ask("Pay.");
    await turns();
    await session.pause();
    const [question] = session.questions();
    expect(question).toBeDefined();
    if (question !== undefined)
      expect(await session.decide(question, "approve", "ada")).toMatchObject({ status: "accepted" });
    await turns();
    expect(session.questions()).toEqual([]);
    expect(runs).toBe(0);
    await session.resume();
    expect((await run).text).toBe("Paid.");
    expect(runs).toBe(1);
  });

  it("lets a question expire whose deadline passes", async () => {
    const { session, clock } = scene([callsTools([{ name: "pay" }]), answers("Not paid.")], {
      tools: [toolOf("pay")],
      config: { approval: { policy: "always", expiresAfterMs: 5_000 } },
    });
    const run = session.ask("Pay.");
    await turns();
    await session.pause();
    await clock.advanceAsync(6_000);
    await turns();
    expect(resultOf(session.current())).toMatchObject({ isSuccess: false, code: "expired" });
    await session.resume();
    expect((await run).text).toBe("Not paid.");
  });

  it("ignores a second pause, and a session that is not paused ignores a resume", async () => {
    const { session } = scene([]);
    expect(await session.resume()).toEqual({ status: "ignored", reason: "not-paused" });
    await session.pause("First.");
    expect(await session.pause("Second.")).toEqual({ status: "ignored", reason: "already-paused" });
    expect(session.current().paused?.reason).toBe("First.");
    await session.resume();
    expect(await session.resume()).toEqual({ status: "ignored", reason: "not-paused" });
    expect(await session.pause()).toMatchObject({ status: "accepted" });
  });
});

describe("a pause in a log", () => {
  const payer = (): { readonly agent: Agent; readonly runs: () => number } => {
    let runs = 0;
    const pay = toolOf("pay", () => `paid ${(runs += 1)}`, { replay: "safe" });
    return { agent: defineAgent({ llm: callsThenAnswers({ name: "pay" }), tools: [pay] }), runs: () => runs };
  };

  it("holds after a restart", async () => {
    const world = new Restarts();
    const { agent, runs } = payer();
    const first = await world.open(agent);
    await first.pause("Not now.");
    await first.send("Pay.");
    await first.close();
    const second = await world.open(agent);
    await turns();
    expect(second.current().paused?.reason).toBe("Not now.");
    expect(await world.types()).not.toContain("llm-call-started");
    const run = second.running();
    await second.resume();
    expect((await run)?.text).toBe("done");
    expect(runs()).toBe(1);
  });

  it("is posted by a process that does not run the session, as is the resume", async () => {
    const world = new Restarts();
    const { agent, runs } = payer();
    const owner = await world.open(agent);
    const poster = await world.open(agent, { access: "post", owner: "other" });
    expect(await poster.pause("Wait.")).toMatchObject({ status: "accepted" });
    await owner.refresh();
    const run = owner.ask("Pay.");
    await turns();
    expect(owner.current().paused?.reason).toBe("Wait.");
    expect(await world.types()).not.toContain("llm-call-started");
    await poster.refresh();
    expect(await poster.resume()).toMatchObject({ status: "accepted" });
    await owner.refresh();
    expect((await run).text).toBe("done");
    expect(runs()).toBe(1);
  });
});

describe("a sub-agent of a paused session", () => {
  it("is paused with it, keeps its time, and is resumed with it", async () => {
    const { tool, end } = heldTool("look");
    const below = new MockLlmCaller([callsTools([{ name: "look" }]), answers("Seen.")]);
    let child: Session<unknown> | undefined;
    const middle = agentTool(defineAgent({ llm: below, tools: [tool] }), {
      name: "middle",
      description: "Looks.",
      timeoutMs: 10_000,
      onSession: (session) => void (child = session),
    });
    const { session, clock } = scene(
      [callsTools([{ name: "middle", arguments: { task: "Look." } }]), answers("Done.")],
      { tools: [middle] },
    );
    const run = session.ask("Have it seen.");
    await untilPasses(() => expect(child).toBeDefined());
    await turns();
    await session.pause();
    await untilPasses(() => expect(child?.current().paused).toMatchObject({ reason: expect.any(String) }));
    end();
    await clock.advanceAsync(60_000);
    await turns();
    expect(below.callCount).toBe(1);
    await session.resume();
    expect((await run).text).toBe("Done.");
    expect(textOf(resultOf(session.current()))).toBe("Seen.");
  });

  it("keeps a pause of its own", async () => {
    const below = new MockLlmCaller([answers("Seen.")]);
    let child: Session<unknown> | undefined;
    const middle = agentTool(defineAgent({ llm: below }), {
      name: "middle",
      description: "Looks.",
      onSession: (session) => {
        child = session;
        void session.pause("Mine.");
      },
    });
    const { session } = scene(
      [callsTools([{ name: "middle", arguments: { task: "Look." } }]), answers("Done.")],
      { tools: [middle] },
    );
    const run = session.ask("Have it seen.");
    await untilPasses(() => expect(child?.current().paused?.reason).toBe("Mine."));
    await session.pause();
    await session.resume();
    await turns();
    expect(child?.current().paused?.reason).toBe("Mine.");
    expect(below.callCount).toBe(0);
    await child?.resume();
    expect((await run).text).toBe("Done.");
  });
});

describe("a handler that pauses its session", () => {
  const decisions: readonly (readonly [string, HandlerDecision])[] = [
    ["at once", { event: "Start", pause: "Look at it." }],
    ["with a late decision", { at: () => ({ event: "Start", pause: "Look at it." }), mayPause: true }],
  ];

  it.each(decisions)("%s: the model is asked when a person has resumed it", async (_, decision) => {
    const llm = new MockLlmCaller([answers("Hello.")]);
    const agent = defineAgent({ llm, states: { Planning: { before: () => decision } } });
    const session = startSession(agent);
    const run = session.ask("Hi.");
    await turns();
    expect(session.current().paused?.reason).toBe("Look at it.");
    expect(llm.callCount).toBe(0);
    await session.resume();
    expect((await run).text).toBe("Hello.");
  });

  it("with a late decision that does not say so before fails", async () => {
    const decision: HandlerDecision = { at: () => ({ event: "Start", pause: "Look at it." }) };
    const agent = defineAgent({
      llm: new MockLlmCaller([]),
      states: { Planning: { before: () => decision } },
    });
    await expect(startSession(agent).ask("Hi.")).rejects.toThrow("needs mayPause");
  });
});
