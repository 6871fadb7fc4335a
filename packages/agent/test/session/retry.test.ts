import { answers, callsTools, fails, hangs, MockLlmCaller } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { defineAgent, type AgentConfigChange, type Session, type SessionView } from "../../src/index.ts";
import { Restarts, turns } from "../restarts/restarts.ts";
import { failureOf, scene, toolOf } from "../support.ts";

const refusedKey = fails("auth");

describe("a failed loop that is tried again", () => {
  it("continues with what was done, and calls no tool twice", async () => {
    let runs = 0;
    const pay = toolOf("pay", () => `paid ${(runs += 1)}`);
    const { session, llm } = scene([callsTools([{ name: "pay" }]), refusedKey, answers("Paid.")], {
      tools: [pay],
    });
    await failureOf(session.ask("Pay."));
    expect(await session.retry()).toMatchObject({ status: "accepted" });
    expect((await session.running())?.text).toBe("Paid.");
    expect(runs).toBe(1);
    expect(llm.requests[2]?.messages).toEqual(llm.requests[1]?.messages);
    expect(session.current().messages.filter(({ role }) => role === "user")).toHaveLength(1);
  });

  /** A model that calls a tool without an end, for 500 tokens a call. */
  const endless = (config: AgentConfigChange) =>
    scene(() => callsTools([{ name: "look" }], { usage: { inputTokens: 400, outputTokens: 100 } }), {
      tools: [toolOf("look")],
      config,
    });

  const ended = (session: Session): Promise<void> =>
    untilPasses(() => expect(session.current().reActContext.control.type).toBe("Error"));

  it("spends nothing more while the limit that it has reached stays as it is", async () => {
    const { session, llm } = endless({ limits: { maxSteps: 3 }, budget: { maxTokens: 2_000 } });
    expect(await failureOf(session.ask("Go."))).toMatchObject({ reason: "MaxSteps" });
    await session.retry();
    await ended(session);
    expect(session.running()).toBeUndefined();
    expect(session.current().reActContext).toMatchObject({ loop: 2, step: 3 });
    expect(llm.callCount).toBe(3);
  });

  it("has as many steps more as its limit was raised by, and what is left of its budget", async () => {
    const { session, llm } = endless({ limits: { maxSteps: 2 }, budget: { maxTokens: 2_000 } });
    expect(await failureOf(session.ask("Go."))).toMatchObject({ reason: "MaxSteps" });
    await session.configure({ limits: { maxSteps: 3 } });
    await session.retry();
    await ended(session);
    expect(llm.callCount).toBe(3);
    await session.configure({ limits: { maxSteps: 50 } });
    await session.retry();
    await ended(session);
    expect(session.current().reActContext.control).toMatchObject({ failure: { kind: "BudgetExceeded" } });
    expect(session.current().reActContext.usage).toMatchObject({ inputTokens: 1_600, outputTokens: 400 });
    await session.configure({ budget: { maxTokens: 3_000 } });
    await session.retry();
    await ended(session);
    expect(session.current().usage).toMatchObject({ inputTokens: 2_400, outputTokens: 600 });
  });

  it("makes the last step again whose model call has failed", async () => {
    const { session } = scene([callsTools([{ name: "look" }]), refusedKey, answers("Done.")], {
      tools: [toolOf("look")],
      config: { limits: { maxSteps: 2 } },
    });
    await failureOf(session.ask("Go."));
    await session.retry();
    expect((await session.running())?.text).toBe("Done.");
    expect(session.current().reActContext).toMatchObject({ loop: 2, step: 2, stepLimit: 2 });
  });

  it("contains a note after an answer that did not fit, so that the request does not end with a turn of the model", async () => {
    const { session, llm } = scene([answers("No."), answers('{"yes":true}')], {
      config: { answerSchema: '{"type":"object"}', retries: { maxAnswerRetries: 0 } },
    });
    await failureOf(session.ask("Go."));
    await session.retry();
    expect((await session.running())?.text).toBe('{"yes":true}');
    expect(llm.requests[1]?.messages.at(-1)).toMatchObject({ role: "note" });
  });

  it.each([
    ["nothing was asked", async () => undefined],
    [
      "the loop has answered",
      async ({ session }: ReturnType<typeof scene>) => void (await session.ask("Go.")),
    ],
  ])("is ignored while %s", async (_, before) => {
    const at = scene([answers("Done.")]);
    await before(at);
    const unchanged: SessionView = at.session.current();
    expect(await at.session.retry()).toEqual({ status: "ignored", reason: "not-failed" });
    expect(at.session.current()).toBe(unchanged);
  });

  it("is ignored after a refusal of the provider, which has withheld the task", async () => {
    const { session } = scene([fails("refusal")]);
    await failureOf(session.ask("Go."));
    expect(await session.retry()).toMatchObject({ status: "ignored", reason: "not-failed" });
  });

  it("works after a cancel, and twice at once only once", async () => {
    const { session, llm } = scene([hangs(), answers("Done.")]);
    const run = failureOf(session.ask("Go."));
    await turns();
    await session.cancel();
    await run;
    const receipts = await Promise.all([session.retry(), session.retry()]);
    expect(receipts.map(({ status }) => status)).toEqual(["accepted", "ignored"]);
    expect((await session.running())?.text).toBe("Done.");
    expect(llm.callCount).toBe(2);
  });

  it("is tried again by the owner when another process asks for it", async () => {
    const world = new Restarts();
    const agent = defineAgent({ llm: new MockLlmCaller([refusedKey, answers("Done.")]) });
    const owner = await world.open(agent);
    await failureOf(owner.ask("Go."));
    const poster = await world.open(agent, { access: "post", owner: "other" });
    expect(await poster.retry()).toMatchObject({ status: "accepted" });
    await owner.refresh();
    await untilPasses(() => expect(owner.current().reActContext.control.type).toBe("Done"));
    expect(await world.types()).toContain("loop-retried");
  });
});
