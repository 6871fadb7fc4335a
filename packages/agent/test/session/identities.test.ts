import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, defineTool, runTask, startSession } from "../../src/index.ts";

/** An agent that pays once for each message, and the idempotency keys of its payments. */
function payer(approval: "always" | "never" = "never") {
  const keys: string[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    approval,
    input: { type: "object", properties: { to: { type: "string" } } },
    execute(_, { idempotencyKey }) {
      keys.push(idempotencyKey);
      return "paid";
    },
  });
  const llm = new MockLlmCaller(({ messages }) =>
    messages.at(-1)?.role === "user"
      ? callsTools([{ name: "pay", arguments: { to: "ada" } }])
      : answers("done"),
  );
  return { keys, agent: defineAgent({ llm, tools: [pay] }) };
}

describe("sessions in memory with the same id", () => {
  it("have different idempotency keys", async () => {
    const { keys, agent } = payer();
    await runTask(agent, "Pay.", { id: "order-7" });
    await runTask(agent, "Pay.", { id: "order-7" });
    expect(new Set(keys).size).toBe(2);
  });

  it("have one identity where one continues the state of the other", async () => {
    const { keys, agent } = payer();
    const { state } = await runTask(agent, "Pay.", { id: "order-7" });
    await runTask(agent, "Pay.", { id: "order-7", state: JSON.parse(JSON.stringify(state)) });
    expect(keys[1]).toBe(keys[0]?.replace(/call_1$/u, "call_2"));
  });

  it("do not take the decision on a question of each other, whose parameters no listener can change", async () => {
    const { keys, agent } = payer("always");
    const [first, second] = [startSession(agent, { id: "a" }), startSession(agent, { id: "a" })];
    for (const session of [first, second]) {
      session.onEvent(() => undefined);
      await session.send("Pay.");
      await session.settled();
    }
    const [question] = first.questions();
    if (question === undefined) throw new Error("No question is open.");
    expect(await second.decide(question, "approve")).toMatchObject({ reason: "digest-mismatch" });
    expect(keys).toEqual([]);
    expect(Object.isFrozen(question.parameters)).toBe(true);
    await first.close();
    await second.close();
  });
});
