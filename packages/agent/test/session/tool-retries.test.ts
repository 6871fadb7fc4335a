import { answers, callsTools } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { defineAgent, toolReply, type ToolContext } from "../../src/index.ts";
import { callsThenAnswers, never, resultOf, Restarts, turns } from "../restarts/restarts.ts";
import { scene, toolOf, type Scene } from "../support.ts";

const retries = { delayMs: 100, maxDelayMs: 150 };

/** A tool that fails in its first attempts. */
const flaky = (failures: number, contexts: ToolContext[] = []) =>
  toolOf(
    "fetch",
    (_, context) => {
      contexts.push(context);
      if (context.attempt <= failures) throw new Error(`Failure ${context.attempt}.`);
      return "the page";
    },
    { replay: "safe", retries: 2 },
  );

const callOf = ({ session }: Scene) => {
  const { control } = session.current().reActContext;
  return "calls" in control ? control.calls[0] : undefined;
};

const waiting = (at: Scene, due: number): Promise<void> =>
  untilPasses(() => expect(callOf(at)?.status).toEqual({ type: "retrying", due }));

describe("a tool with retries", () => {
  it("runs again after a delay that grows, and the model reads only the result", async () => {
    const contexts: ToolContext[] = [];
    const at = scene([callsTools([{ name: "fetch" }]), answers("done")], {
      tools: [flaky(2, contexts)],
      config: { retries },
    });
    const run = at.session.ask("go");
    await waiting(at, 1_100);
    expect(at.events.at(-1)).toEqual({
      type: "ToolCallRetryScheduled",
      toolCallId: "call_1",
      name: "fetch",
      error: "Failure 1.",
      due: 1_100,
    });
    at.clock.advance(99);
    await turns();
    expect(contexts).toHaveLength(1);
    at.clock.advance(1);
    await waiting(at, 1_250);
    at.clock.advance(150);
    expect((await run).text).toBe("done");
    expect(contexts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(contexts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(resultOf(at.session.current())).toMatchObject({ isSuccess: true, content: "the page" });
    expect(at.clock.waiting).toBe(0);
  });

  it("fails with the error of its last attempt", async () => {
    const at = scene([callsTools([{ name: "fetch" }]), answers("done")], {
      tools: [flaky(9)],
      config: { retries },
    });
    const run = at.session.ask("go");
    await waiting(at, 1_100);
    at.clock.advance(100);
    await waiting(at, 1_250);
    at.clock.advance(150);
    await run;
    expect(resultOf(at.session.current())).toMatchObject({ error: "Failure 3.", code: "tool-error" });
  });

  it("runs again after a timeout, and a late result of the first attempt is not taken", async () => {
    const late = Promise.withResolvers<string>();
    const fetch = toolOf("fetch", (_, { attempt }) => (attempt === 1 ? late.promise : "second"), {
      replay: "keyed",
      retries: 1,
      timeoutMs: 50,
    });
    const at = scene([callsTools([{ name: "fetch" }]), answers("done")], {
      tools: [fetch],
      config: { retries },
    });
    const run = at.session.ask("go");
    await at.clock.whenWaiting(1);
    at.clock.advance(50);
    await waiting(at, 1_150);
    late.resolve("first");
    await turns();
    expect(callOf(at)?.status.type).toBe("retrying");
    at.clock.advance(100);
    await run;
    expect(resultOf(at.session.current())).toMatchObject({ content: "second" });
  });

  it("is not repeated for an error that it returns", async () => {
    const fetch = toolOf("fetch", () => toolReply({ content: "No such page.", isError: true }), {
      replay: "safe",
      retries: 2,
    });
    const at = scene([callsTools([{ name: "fetch" }]), answers("done")], { tools: [fetch] });
    await at.session.ask("go");
    expect(resultOf(at.session.current())).toMatchObject({ error: "No such page." });
  });

  it("gives its slot to other calls while it waits", async () => {
    const at = scene([callsTools([{ name: "fetch" }, { name: "other" }]), answers("done")], {
      tools: [flaky(1), toolOf("other")],
      config: { retries, toolCalls: { maxParallel: 1 } },
    });
    const run = at.session.ask("go");
    await untilPasses(() =>
      expect(resultOf(at.session.current(), "call_2")).toMatchObject({ content: "ok" }),
    );
    expect(callOf(at)?.status.type).toBe("retrying");
    at.clock.advance(100);
    expect((await run).text).toBe("done");
  });

  it("is not run again when it was blacklisted meanwhile, and the model reads that it may have run", async () => {
    const contexts: ToolContext[] = [];
    const at = scene([callsTools([{ name: "fetch" }]), answers("done")], {
      tools: [flaky(9, contexts)],
      config: { retries },
    });
    const run = at.session.ask("go");
    await waiting(at, 1_100);
    await at.session.configure({ toolCalls: { blacklist: ["fetch"] } });
    at.clock.advance(100);
    await run;
    expect(contexts).toHaveLength(1);
    expect(resultOf(at.session.current())).toMatchObject({ code: "outcome-unknown" });
  });

  it("is cancelled while it waits, as a call that may have had its effect", async () => {
    const at = scene([callsTools([{ name: "fetch" }]), answers("done")], {
      tools: [flaky(9)],
      config: { retries },
    });
    const run = at.session.ask("go").then(
      () => "answered",
      () => "cancelled",
    );
    await waiting(at, 1_100);
    await at.session.cancel();
    expect(await run).toBe("cancelled");
    expect(resultOf(at.session.current())).toMatchObject({ code: "cancelled-after-start" });
    expect(at.clock.waiting).toBe(0);
  });

  it("waits on in the next process, and counts crashes apart from failures", async () => {
    const world = new Restarts();
    const config = { retries: { ...retries, maxToolAttempts: 2 } };
    const attempts: number[] = [];
    const tool = toolOf(
      "fetch",
      (_, { attempt }) => {
        attempts.push(attempt);
        if (attempt === 1) throw new Error("Failure 1.");
        return attempt === 2 ? never() : "the page";
      },
      { replay: "safe", retries: 2 },
    );
    const agent = defineAgent({ llm: callsThenAnswers({ name: "fetch" }), tools: [tool], config });
    await world.crash(agent);
    await world.open(agent);
    expect(attempts).toEqual([1]);
    world.clock.advance(100);
    await turns();
    expect(attempts).toEqual([1, 2]);
    const session = await world.open(agent);
    await untilPasses(() => expect(session.current().reActContext.control.type).toBe("Done"));
    expect(attempts).toEqual([1, 2, 3]);
    expect(resultOf(session.current())).toMatchObject({ content: "the page" });
  });

  it("is not run again by a release in which it may run once", async () => {
    const world = new Restarts();
    const contexts: ToolContext[] = [];
    const llm = callsThenAnswers({ name: "fetch" });
    await world.crash(defineAgent({ llm, tools: [flaky(1, contexts)], config: { retries } }));
    const careful = toolOf("fetch", () => "ran again");
    const session = await world.open(defineAgent({ llm, tools: [careful], config: { retries } }));
    world.clock.advance(100);
    await untilPasses(() => expect(session.current().reActContext.control.type).toBe("Done"));
    expect(contexts).toHaveLength(1);
    expect(resultOf(session.current())).toMatchObject({ code: "outcome-unknown" });
  });

  it("is work that a session waits for until it is settled", async () => {
    const at = scene([callsTools([{ name: "fetch" }]), answers("done")], {
      tools: [flaky(1)],
      config: { retries },
    });
    await at.session.send("go");
    await waiting(at, 1_100);
    let isSettled = false;
    const settled = at.session.settled().then(() => {
      isSettled = true;
    });
    await turns();
    expect(isSettled).toBe(false);
    at.clock.advance(100);
    await settled;
    expect(at.session.current().reActContext.control.type).toBe("Done");
  });

  it("is not repeated if it may run once, whatever its definition says", async () => {
    let runs = 0;
    const fetch = toolOf("fetch", () => {
      runs += 1;
      throw new Error("It failed.");
    });
    const own = { ...fetch, definition: { ...fetch.definition, retries: 2 } };
    const at = scene([callsTools([{ name: "fetch" }]), answers("done")], { tools: [own] });
    await at.session.send("go");
    await untilPasses(() => expect(at.session.current().toolCalls).toHaveProperty("call_1"));
    await turns();
    expect(resultOf(at.session.current())).toMatchObject({ error: "It failed." });
    expect(runs).toBe(1);
  });

  it.each([undefined, "once"] as const)("has to say that a call may run more than once: %s", (replay) => {
    expect(() => toolOf("fetch", () => "", { ...(replay && { replay }), retries: 1 })).toThrow(
      'The tool fetch has retries, but its replay is "once".',
    );
  });
});
