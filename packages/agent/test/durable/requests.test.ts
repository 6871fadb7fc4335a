import { memoryLog } from "@moora/event-log";
import { answers, callsTools, hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, defineData, openSession, readHeader, type Agent } from "../../src/index.ts";
import { failureOf, toolOf } from "../support.ts";

const data = defineData({ schema: { type: "object" }, initial: { count: 0 } });

const agentOf = (script: ConstructorParameters<typeof MockLlmCaller>[0]): Agent =>
  defineAgent({
    llm: new MockLlmCaller(script),
    tools: [toolOf("pay", () => "paid", { approval: "always" })],
    data,
  }) as Agent;

describe("the id of a request", () => {
  it("is recorded with a decision, a cancel and a change of data", async () => {
    const log = memoryLog();
    const agent = agentOf([callsTools([{ name: "pay" }]), hangs()]);
    await using session = await openSession(agent, { log, id: "ada" });
    await session.send("Pay");
    await session.settled();
    const [question = { toolCallId: "", digest: "" }] = session.questions();
    await session.decide(question, "approve", "rita", "request 1");
    await session.cancel("Enough.", "request 2");
    await session.update((draft) => void Object.assign(draft as object, { count: 1 }), "rita", "request 3");
    const ids = (await session.history()).flatMap(({ input }) =>
      "requestId" in input ? [`${input.type}: ${input.requestId}`] : [],
    );
    expect(ids).toEqual([
      "tool-call-decided: request 1",
      "re-act-cancelled: request 2",
      "data-changed: request 3",
    ]);
  });

  it.each(["", "x".repeat(201), "\ud800", 5])(
    "is refused if it is not a text of 1 to 200 characters: %j",
    async (id) => {
      await using session = await openSession(agentOf([answers("Hi.")]), { log: memoryLog(), id: "ada" });
      const question = { toolCallId: "a", digest: "b" };
      for (const call of [
        session.cancel("Enough.", id as string),
        session.decide(question, "approve", "rita", id as string),
        session.update(() => undefined, "rita", id as string),
      ])
        expect(await failureOf(call)).toMatchObject({ name: "InputRefused", path: "requestId" });
    },
  );
});

describe("the user of a session", () => {
  it("is written when the session is created, and stays", async () => {
    const log = memoryLog();
    for (const user of ["ada", "bob"])
      await (await openSession(agentOf([answers("Hi.")]), { log, id: "one", user })).close();
    await (await openSession(agentOf([answers("Hi.")]), { log, id: "two" })).close();
    expect((await readHeader(log, "one")).user).toBe("ada");
    expect(await readHeader(log, "two")).not.toHaveProperty("user");
  });
});
