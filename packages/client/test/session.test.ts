import { agentTool, askHuman, defineAgent, defineData, type AgentEvent } from "@moora/agent";
import { answers, callsTools, fails, hangs, MockLlmCaller } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { connectSession, type RemoteSessionOf } from "../src/index.ts";
import { agentOf, eventOf, Scene, stateOf, toolOf } from "./support.ts";

const payer = (paid: unknown[] = []) =>
  agentOf([callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("It is paid.")], {
    tools: [toolOf("pay", (input) => (paid.push(input), "paid"), { approval: "always" })],
  });

describe("a remote session", () => {
  it("runs a loop, and has the state of its server byte for byte", async () => {
    const agent = agentOf([callsTools([{ name: "look" }]), answers("It is there.")], {
      tools: [toolOf("look")],
    });
    await using scene = new Scene(agent);
    const { session } = await scene.connect();
    const run = session.ask("Look");
    const types: string[] = [];
    for await (const { type } of run) types.push(type);
    expect(types).toEqual(
      expect.arrayContaining([
        "StateStarted",
        "ToolCallStarted",
        "ToolCallFinished",
        "LlmToken",
        "FinalAnswer",
      ]),
    );
    const { answer, steps } = await run;
    expect({ answer, steps }).toEqual({ answer: "It is there.", steps: 2 });
    expect(session.current().messages.map(({ content }) => content)).toEqual(["Look", "It is there."]);
    expect(stateOf(session)).toBe(await scene.stateOf(session.id));
    await session.verify();
    expect(session.trace().toText()).toContain("Done");
  });

  it("starts in the middle of a session, with the text that is being streamed", async () => {
    await using scene = new Scene(agentOf([hangs("It is a ")]));
    const { session: first } = await scene.connect();
    await first.send("What is it?");
    await untilPasses(() => expect(first.current().streaming?.text).toBe("It is a "));
    const { session: second } = await scene.connect({ id: first.id });
    await untilPasses(() => expect(second.current().streaming?.text).toBe("It is a "));
    expect(second.seq()).toBe(first.seq());
    const running = second.running();
    expect(await first.cancel("Enough")).toMatchObject({ status: "accepted" });
    await expect(running).rejects.toMatchObject({ kind: "Cancelled" });
    expect(stateOf(second)).toBe(stateOf(first));
    expect(second.running()).toBeUndefined();
  });

  it("contains what it has posted when the post resolves", async () => {
    await using scene = new Scene(agentOf(() => answers("Yes.")));
    const { session } = await scene.connect();
    const receipt = await session.send({
      content: "See",
      attachments: [{ mediaType: "image/png", url: "data:," }],
    });
    expect(session.seq()).toBeGreaterThanOrEqual(receipt.status === "accepted" ? receipt.seq : Infinity);
    expect(session.current().messages[0]).toMatchObject({
      content: "See",
      attachments: [{ mediaType: "image/png" }],
    });
    expect(await session.send(" ")).toEqual({ status: "ignored", reason: "blank" });
  });

  it("lets one client decide while another looks on", async () => {
    const paid: unknown[] = [];
    await using scene = new Scene(payer(paid));
    const { session: ada } = await scene.connect();
    const { session: bob } = await scene.connect({ id: ada.id });
    const shown = [eventOf(ada, "ApprovalRequested"), eventOf(bob, "ApprovalRequested")];
    const run = ada.ask("Pay");
    const [atAda, atBob] = await Promise.all(shown);
    expect(atBob?.digest).toBe(atAda?.digest);
    expect(bob.questions()).toMatchObject([{ name: "pay", parameters: { cents: 5 } }]);
    expect(await atBob?.decide({ approve: { cents: 4 } })).toMatchObject({ status: "accepted" });
    expect((await run).answer).toBe("It is paid.");
    expect(paid).toEqual([{ cents: 4 }]);
    if (atAda === undefined) throw new Error("No question.");
    expect(await ada.decide(atAda, "approve")).toMatchObject({ status: "ignored", decidedBy: "local" });
    await untilPasses(() => expect(stateOf(bob)).toBe(stateOf(ada)));
  });

  it("has the schema of the answer that a sub-agent asks for", async () => {
    const answer = { type: "object", properties: { size: { type: "integer" } } } as const;
    const ask = callsTools([{ name: "ask_human", arguments: { question: "Which size?" } }]);
    const shop = agentOf([ask, answers("Ordered.")], { tools: [askHuman({ answer })] });
    const boss = agentOf([callsTools([{ name: "shop", arguments: { task: "A shirt" } }]), answers("Done.")], {
      tools: [agentTool(shop, { name: "shop", description: "Buys." })],
    });
    await using scene = new Scene(boss);
    const { session } = await scene.connect();
    const run = session.ask("A shirt");
    await untilPasses(() => expect(session.questions()).toHaveLength(1));
    const [question] = session.questions();
    if (question === undefined) throw new Error("No question.");
    expect(JSON.parse(question.answerSchema ?? "")).toMatchObject(answer);
    const { session: late } = await scene.connect({ id: session.id });
    expect(late.questions()).toEqual([question]);
    await session.decide(question, { answer: { size: 42 } });
    expect((await run).answer).toBe("Done.");
  });

  it("shows the questions of sub-agents with their paths, and decides them", async () => {
    const paid: unknown[] = [];
    const boss = agentOf([callsTools([{ name: "cashier", arguments: { task: "Pay" } }]), answers("Done.")], {
      tools: [agentTool(payer(paid), { name: "cashier", description: "Pays." })],
    });
    await using scene = new Scene(boss);
    const { session: ada } = await scene.connect();
    const { session: bob } = await scene.connect({ id: ada.id });
    const seen: AgentEvent[] = [];
    bob.onEvent((event) => void seen.push(event));
    const run = ada.ask("Pay");
    await untilPasses(() => expect(bob.questions()).toHaveLength(1));
    const { session: late } = await scene.connect({ id: ada.id });
    expect(late.questions()).toEqual(bob.questions());
    const [question] = ada.questions();
    if (question === undefined) throw new Error("No question.");
    const asked = {
      name: "pay",
      path: ["call_1"],
      parameters: { cents: 5 },
      risk: "low",
      reason: "tool",
      due: null,
    };
    expect(question).toMatchObject(asked);
    expect(seen).toContainEqual(expect.objectContaining({ type: "SubAgentEvent", path: question.path }));
    await expect(ada.decide(question, { approve: { cents: Number.NaN } })).rejects.toThrow(
      "decision.approve.cents: JSON does not keep NaN.",
    );
    expect(await ada.decide(question, "approve")).toMatchObject({ status: "accepted" });
    expect(ada.questions()).toEqual([]);
    expect((await run).answer).toBe("Done.");
    expect(paid).toHaveLength(1);
    for (const session of [bob, late]) await untilPasses(() => expect(session.questions()).toEqual([]));
    expect(await bob.decide(question, "approve")).toMatchObject({ status: "ignored" });
  });

  it("retries a failed loop, pauses, and resumes", async () => {
    await using scene = new Scene(agentOf([fails("auth"), answers("It works again.")]));
    const { session } = await scene.connect();
    await expect(session.ask("Work")).rejects.toMatchObject({ kind: "LlmError", reason: "auth" });
    expect(await session.pause("maintenance")).toMatchObject({ status: "accepted" });
    expect(session.current().paused).toMatchObject({ reason: "maintenance" });
    expect(await session.retry()).toMatchObject({ status: "accepted" });
    const run = session.running();
    expect(await session.resume()).toMatchObject({ status: "accepted" });
    expect((await run)?.answer).toBe("It works again.");
    expect(await session.resume()).toEqual({ status: "ignored", reason: "not-paused" });
  });

  it("cancels by the run of a message", async () => {
    await using scene = new Scene(agentOf([hangs("So far")]));
    const { session } = await scene.connect();
    const run = session.ask("Work");
    await untilPasses(() => expect(session.current().streaming?.text).toBe("So far"));
    run.cancel("Enough");
    await expect(run).rejects.toMatchObject({ kind: "Cancelled" });
    expect(session.current().messages.at(-1)).toMatchObject({ content: "So far", status: "cut" });
  });

  it("reads the answers of an agent with a schema", async () => {
    const agent = defineAgent({
      name: "helper",
      llm: new MockLlmCaller(() => answers('{"sum":4}')),
      answer: z.object({ sum: z.number() }),
      data: defineData({ schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } }),
    });
    await using scene = new Scene(agent);
    const { session } = await scene.connect<{ sum: number }>();
    expect((await session.ask("2 + 2?")).answer).toEqual({ sum: 4 });
    const { session: own } = await scene.connect<number>({ id: session.id, answerOf: (text) => text.length });
    expect((await own.ask("2 + 2?")).answer).toBe(9);
    type Remote = RemoteSessionOf<typeof agent>;
    expectTypeOf<Awaited<ReturnType<Remote["ask"]>>["answer"]>().toEqualTypeOf<{ sum: number }>();
    expectTypeOf<ReturnType<Remote["current"]>["data"]["items"]>().toEqualTypeOf<readonly string[]>();
    const open = () => connectSession<typeof agent>({ url: "/", id: session.id });
    expectTypeOf<Awaited<ReturnType<typeof open>>>().toEqualTypeOf<Remote>();
  });
});
