import { answers, callsTools, fails, hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, startSession } from "../../src/index.ts";
import { Restarts, turns } from "./restarts.ts";
import { toolOf } from "@moora/testbed/tool-of";

describe("a model call that is made again", () => {
  it("has another idempotency key when its request has changed", async () => {
    const world = new Restarts();
    const llms = ["You are polite.", "You are brief."].map((systemPrompt) => ({
      systemPrompt,
      llm: new MockLlmCaller([hangs(), hangs()]),
    }));
    for (const { systemPrompt, llm } of llms) {
      const session = await world.open(defineAgent({ llm, systemPrompt }));
      if (session.current().messages.length === 0) session.ask("go").then(undefined, () => undefined);
      await turns();
    }
    const [one, two] = llms.map(({ llm }) => llm.options[0]?.idempotencyKey);
    expect(one).not.toBe(two);
  });

  it("has the same key and the same request when nothing of the request has changed", async () => {
    const world = new Restarts();
    const seen = new Set<string>();
    for (const maxSteps of [5, 6, 7]) {
      const llm = new MockLlmCaller([hangs("Hello wo")]);
      const session = await world.open(defineAgent({ llm, config: { limits: { maxSteps } } }));
      if (seen.size === 0) session.ask("go").then(undefined, () => undefined);
      await turns();
      seen.add(JSON.stringify([llm.options[0]?.idempotencyKey, llm.requests[0]]));
    }
    expect(seen.size).toBe(1);
  });

  it("counts one interruption for a restart with a new prompt, not two", async () => {
    const world = new Restarts();
    for (const systemPrompt of ["one", "two", "three"]) {
      const session = await world.open(defineAgent({ llm: new MockLlmCaller([hangs()]), systemPrompt }));
      if (session.current().messages.length === 0) session.ask("go").then(undefined, () => undefined);
      await turns();
    }
    await using reader = await world.open(defineAgent({ llm: new MockLlmCaller([]) }), { access: "read" });
    expect(reader.current().reActContext.control).toMatchObject({
      type: "Planning",
      interruptions: 2,
      attempt: 5,
    });
  });

  it("is not disturbed by settings that its request does not depend on", async () => {
    const llm = new MockLlmCaller(() => hangs());
    await using session = await new Restarts().open(defineAgent({ llm }));
    session.ask("go").then(undefined, () => undefined);
    await turns();
    for (const maxSteps of [51, 52, 53, 54]) await session.configure({ limits: { maxSteps } });
    expect(session.current().reActContext.control).toMatchObject({ type: "Planning", attempt: 1 });
    for (const systemPrompt of ["a", "b", "c", "d", "e"]) await session.configure({ systemPrompt });
    await turns();
    expect(session.current().reActContext.control).toMatchObject({
      type: "Planning",
      attempt: 6,
      interruptions: 0,
    });
    expect(llm.requests.at(-1)?.system).toBe("e");
  });
});

describe("a provider that always finds the request too long", () => {
  it("ends the loop soon, and the reason says why", async () => {
    let calls = 0;
    const llm = new MockLlmCaller(() => {
      calls += 1;
      return calls === 1 ? callsTools([{ name: "look" }]) : fails("context-length");
    });
    const look = toolOf("look", () => "x".repeat(50_000));
    await using session = startSession(defineAgent({ llm, tools: [look] }));
    const error = await session.ask("go").then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ reason: "context-length" });
    expect(calls).toBeLessThanOrEqual(4);
  });

  it("tries a summary again that failed for another reason, and continues with it", async () => {
    let reflections = 0;
    const llm = new MockLlmCaller(({ purpose, messages }) => {
      if (purpose === "reflect")
        return (reflections += 1) === 1 ? fails("overloaded") : answers("A summary.");
      if (JSON.stringify(messages).includes("A summary.")) return answers("done");
      return messages.filter(({ role }) => role === "assistant").length === 2
        ? fails("context-length")
        : callsTools([{ name: "look" }]);
    });
    const look = toolOf("look", () => "much");
    await using session = startSession(defineAgent({ llm, tools: [look] }));
    expect((await session.ask("go")).text).toBe("done");
    expect(reflections).toBe(2);
  });
});
