import { memoryLog } from "@moora/event-log";
import { answers, callsTools, hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, identityOf, openSession, readHeader, type AgentEvent } from "../../src/index.ts";
import { settled, toolOf } from "../support.ts";

describe("a session that is opened to run", () => {
  it("reports to onEvent what a call without a wait did before the opening resolved", async () => {
    const pay = toolOf("pay", () => "paid", { approval: "always" });
    const llm = new MockLlmCaller([callsTools([{ name: "pay", arguments: { of: 1 } }]), answers("Done.")]);
    const agent = defineAgent({ llm, tools: [pay] });
    const options = { log: memoryLog(), id: "ada" };
    const first = await openSession(agent, { ...options, onEvent: () => undefined });
    const types: AgentEvent["type"][] = [];
    await first.send("Pay.");
    await first.settled();
    await first.close();
    await using poster = await openSession(agent, { ...options, access: "post" });
    for (const question of poster.questions()) await poster.decide(question, "approve");
    await using session = await openSession(agent, {
      ...options,
      onEvent: ({ type }) => void types.push(type),
    });
    await session.settled();
    expect(types.filter((type) => type !== "StateStarted")).toEqual([
      "ToolCallStarted",
      "ToolCallFinished",
      "LlmToken",
      "LlmPartEnded",
      "FinalAnswer",
    ]);
  });

  it("starts nothing before the log contains that its owner runs it", async () => {
    const agent = defineAgent({ llm: new MockLlmCaller(() => hangs()) });
    const options = { log: memoryLog(), id: "ada" };
    await (await openSession(agent, options)).close();
    await using poster = await openSession(agent, { ...options, access: "post" });
    await poster.send("Hello.");
    const { seq } = poster.info();
    await using session = await openSession(agent, options);
    await settled();
    const inputs = await session.history(seq);
    expect(inputs).toMatchObject([{ input: { type: "session-opened", starts: [{ key: "plan/1/1/1" }] } }]);
  });

  it("has the header of its log, whatever agent opens it", async () => {
    const log = memoryLog();
    const open = (systemPrompt: string) => {
      const agent = defineAgent({ name: "clerk", systemPrompt, llm: new MockLlmCaller([]) });
      return openSession(agent, { log, id: "ada" });
    };
    await using first = await open("Be brief.");
    const { header } = first;
    await first.close();
    await using second = await open("Be kind.");
    expect(second.header).toEqual(header);
    expect(header).toEqual(await readHeader(log, "ada"));
    expect(header.config.systemPrompt).toBe("Be brief.");
    expect(identityOf("ada", header)).toBe(`ada/${header.incarnation}`);
  });
});

describe("a session that is opened to read", () => {
  it("takes no message: a post rejects with ReadOnly, and a run with an AgentError of that reason", async () => {
    const agent = defineAgent({ llm: new MockLlmCaller([]) });
    const options = { log: memoryLog(), id: "ada" };
    await (await openSession(agent, options)).close();
    await using session = await openSession(agent, { ...options, access: "read" });
    await expect(session.send("Hello.")).rejects.toMatchObject({ name: "SessionError", code: "ReadOnly" });
    const run = session.ask("Hello.");
    const events: AgentEvent[] = [];
    for await (const event of run) events.push(event);
    await expect(run).rejects.toMatchObject({
      name: "AgentError",
      kind: "Conflict",
      reason: "ReadOnly",
      cause: { name: "SessionError", code: "ReadOnly" },
    });
    expect(events).toMatchObject([{ type: "Error", error: { reason: "ReadOnly" } }]);
  });
});
