import { agentTool, defineTool, toolAsks, type Decision, type Question } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { untilPasses } from "@moora/testbed/test-clock";
import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ChatScene, textOf } from "@moora/testbed/server/chat-scene";
import { delegating, partsOf, pay } from "./chat-scene.ts";
import type { Client } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

type Chat = ReturnType<ChatScene["chat"]>;

interface Asked {
  readonly toolCallId: string;
  readonly approval: { readonly id: string };
}

/** The parts with an open approval. */
const askedIn = (chat: Chat): readonly Asked[] =>
  (chat.lastMessage?.parts ?? []).filter(
    (part) => "state" in part && part.state === "approval-requested",
  ) as never;

/** The session of the only chat, as another client of the same user uses it. */
async function elsewhere({ scene }: ChatScene): Promise<{
  readonly ada: Client;
  readonly path: string;
  readonly questions: () => Promise<readonly Question[]>;
  readonly decide: (decision: Decision, index?: number) => Promise<void>;
}> {
  const ada = scene.as("ada");
  const [{ id }] = (await ada.get("/sessions")).body.sessions;
  const path = `/sessions/${id}`;
  const questions = async (): Promise<readonly Question[]> => (await ada.get(path)).body.questions;
  return {
    ada,
    path,
    questions,
    async decide(decision, index = 0) {
      const { toolCallId, digest, path: calls } = (await questions())[index] ?? {};
      const body = { toolCallId, digest, decision, ...(calls === undefined ? {} : { path: calls }) };
      expect((await ada.post(`${path}/decisions`, body)).body).toMatchObject({ status: "accepted" });
    },
  };
}

/** The parts of the last message as a page reads them after a reload. */
const reloaded = async (scene: ChatScene): Promise<readonly object[]> => partsOf(await scene.reload());

/** Waits until the loop of the chat has ended. */
const ended = async ({ ada, path }: { readonly ada: Client; readonly path: string }): Promise<void> =>
  await expect
    .poll(async () => (await ada.get(path)).body.state.reActContext.control.type)
    .toMatch(/^(?:Done|Error)$/);

/** Checks that the page is ready, and posts nothing by itself. */
async function rests(scene: ChatScene, chat: Chat, posts: number): Promise<void> {
  await scene.rests(chat);
  expect(scene.responses).toHaveLength(posts);
  expect(chat.status).toBe("ready");
}

const payer = (
  ran: unknown[] = [],
  script = [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("Done.")],
) => agentOf(script, { tools: [pay(ran)] });

describe("a page that answers a question of a chat which was decided elsewhere", () => {
  it.each([
    {
      decided: { reject: "Too much." },
      given: true,
      state: "output-denied",
      approval: { approved: false, reason: "Too much." },
    },
    {
      decided: "approve",
      given: false,
      state: "output-available",
      approval: { approved: true },
    },
    { decided: "approve", given: true, state: "output-available", approval: { approved: true } },
  ] as const)("gets the outcome and the rest of the loop: $decided, answered $given", async (row) => {
    const ran: unknown[] = [];
    await using scene = new ChatScene(payer(ran));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    const other = await elsewhere(scene);
    await other.decide(row.decided);
    await ended(other);
    await chat.addToolApprovalResponse({ id: askedIn(chat)[0]?.approval.id ?? "", approved: row.given });
    await untilPasses(() => expect(textOf(chat)).toBe("Done."));
    await rests(scene, chat, 2);
    expect(partsOf(chat)[1]).toMatchObject({ state: row.state, approval: row.approval });
    expect(chat.messages).toHaveLength(2);
    expect(ran).toHaveLength(row.decided === "approve" ? 1 : 0);
    expect(scene.errors).toEqual([]);
  });

  it("continues with a loop that still runs", async () => {
    const gate = Promise.withResolvers<string>();
    const slow = toolOf("pay", () => gate.promise, { approval: "always" });
    const script = [callsTools([{ name: "pay" }]), answers("Done.")];
    await using scene = new ChatScene(agentOf(script, { tools: [slow] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    await (await elsewhere(scene)).decide("approve");
    await chat.addToolApprovalResponse({ id: askedIn(chat)[0]?.approval.id ?? "", approved: false });
    await untilPasses(() =>
      expect(partsOf(chat)[1]).toMatchObject({ state: "approval-responded", approval: { approved: true } }),
    );
    expect(chat.status).toBe("streaming");
    gate.resolve("paid");
    await untilPasses(() => expect(textOf(chat)).toBe("Done."));
    await rests(scene, chat, 2);
    expect(partsOf(chat)[1]).toMatchObject({ state: "output-available", output: "paid" });
    expect(scene.errors).toEqual([]);
  });

  it("shows changed arguments while its stream is open, before the result", async () => {
    const gates = { pay: Promise.withResolvers<string>(), wait: Promise.withResolvers<string>() };
    const tools = [
      toolOf("pay", () => gates.pay.promise, { approval: "always" }),
      toolOf("wait", () => gates.wait.promise),
    ];
    const calls = [{ name: "pay", arguments: { cents: 5 } }, { name: "wait" }];
    await using scene = new ChatScene(agentOf([callsTools(calls), answers("Done.")], { tools }));
    const chat = scene.chat();
    const sent = chat.sendMessage({ text: "Pay" });
    await untilPasses(() => expect(askedIn(chat)).toHaveLength(1));
    await (await elsewhere(scene)).decide({ approve: { cents: 22 } });
    const changed = { input: { cents: 22 }, approval: { approved: true } };
    await untilPasses(() =>
      expect(partsOf(chat)[1]).toMatchObject({ state: "approval-responded", ...changed }),
    );
    gates.pay.resolve("paid");
    gates.wait.resolve("waited");
    await sent;
    await rests(scene, chat, 1);
    expect(partsOf(chat)[1]).toMatchObject({ state: "output-available", output: "paid", ...changed });
    expect(partsOf(chat)).toHaveLength(5);
    expect(await reloaded(scene)).toEqual(partsOf(chat));
    expect(scene.errors).toEqual([]);
  });

  it("has its answers to the other questions of the message count", async () => {
    const ran: unknown[] = [];
    const calls = [1, 2].map((cents) => ({ name: "pay", id: `pay_${cents}`, arguments: { cents } }));
    await using scene = new ChatScene(payer(ran, [callsTools(calls), answers("Done.")]));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay twice" });
    await (await elsewhere(scene)).decide({ reject: "Once only." });
    for (const { approval } of askedIn(chat))
      await chat.addToolApprovalResponse({ id: approval.id, approved: true });
    await untilPasses(() => expect(textOf(chat)).toBe("Done."));
    await rests(scene, chat, 2);
    expect(partsOf(chat)).toMatchObject([
      {},
      { state: "output-denied" },
      { state: "output-available" },
      {},
      {},
    ]);
    expect(ran).toEqual([{ cents: 2 }]);
    expect(scene.errors).toEqual([]);
  });

  it("gets an outcome that was settled, and asks anew where the call was asked about again", async () => {
    const storage = new MemoryStorage();
    const pays = toolOf("pay", () => new Promise(() => undefined), {
      approval: "always",
      replay: "once",
      onUnknown: "ask",
    });
    const agent = () => agentOf([callsTools([{ name: "pay" }]), answers("Done.")], { tools: [pays] });
    const first = new ChatScene(agent(), { log: memoryLog(storage) });
    const asking = first.chat();
    await asking.sendMessage({ text: "Pay" });
    const stale = structuredClone(asking.messages);
    await (await elsewhere(first)).decide("approve");
    const { ada, path } = await elsewhere(first);
    await expect
      .poll(async () => JSON.stringify((await ada.get(path)).body.state.reActContext.control))
      .toContain('"started":true');
    await first.scene.server.close();
    await using scene = new ChatScene(agentOf([answers("Done.")], { tools: [pays] }), {
      log: memoryLog(storage),
    });
    const chat = scene.chat("chat-1", "ada", stale);
    const [approval] = askedIn(chat);
    await chat.addToolApprovalResponse({ id: approval?.approval.id ?? "", approved: true });
    await untilPasses(() => expect(askedIn(chat)).toHaveLength(1));
    await rests(scene, chat, 1);
    const [outcome] = askedIn(chat);
    expect(outcome?.approval.id).not.toBe(approval?.approval.id);
    await (await elsewhere(scene)).decide({ outcome: "worked", result: "It was paid." });
    await chat.addToolApprovalResponse({ id: outcome?.approval.id ?? "", approved: false });
    await untilPasses(() => expect(textOf(chat)).toBe("Done."));
    await rests(scene, chat, 2);
    expect(partsOf(chat)[1]).toMatchObject({ state: "output-available", output: "It was paid." });
    expect(scene.errors).toEqual([]);
  });

  it.each(["approve", { reject: "No." }] as const)(
    "gets the rest after a question of a sub-agent: %s",
    async (decision) => {
      await using scene = new ChatScene(delegating("pay"));
      const chat = scene.chat();
      await chat.sendMessage({ text: "Pay" });
      const other = await elsewhere(scene);
      await other.decide(decision);
      await ended(other);
      await chat.addToolApprovalResponse({ id: askedIn(chat)[0]?.approval.id ?? "", approved: true });
      await untilPasses(() => expect(textOf(chat)).toBe("Done."));
      await rests(scene, chat, 2);
      expect(partsOf(chat)).toMatchObject([
        {},
        { state: "output-available" },
        {},
        { state: "output-error", errorText: expect.stringContaining("no longer open") },
        {},
        { text: "Done." },
      ]);
      expect(scene.errors).toEqual([]);
    },
  );

  it("gets the rest of an earlier loop", async () => {
    await using scene = new ChatScene(
      payer([], [callsTools([{ name: "pay" }]), answers("Done."), answers("Welcome.")]),
    );
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    const other = await elsewhere(scene);
    await other.decide("approve");
    await ended(other);
    await other.ada.post(`${other.path}/messages`, { content: "Thanks" });
    await expect.poll(async () => (await other.ada.get(other.path)).body.state.reActContext.loop).toBe(2);
    await ended(other);
    await chat.addToolApprovalResponse({ id: askedIn(chat)[0]?.approval.id ?? "", approved: true });
    await untilPasses(() => expect(textOf(chat)).toBe("Done."));
    await rests(scene, chat, 2);
    expect(chat.lastMessage?.id).toBe("loop_1");
  });

  it("gets the result of each of two sub-agents of one call that ask about calls with the same id", async () => {
    const cashier = (name: string) =>
      agentTool(
        agentOf([callsTools([{ name: "pay", id: "pay-1", arguments: { by: name } }]), answers("Paid.")], {
          name,
          tools: [pay()],
        }),
        { name, description: "Pays." },
      );
    const [one, two] = [cashier("one"), cashier("two")];
    const both = toolOf("both", async (_, context) => {
      await Promise.all([one, two].map(async (tool) => await tool.run('{"task":"Pay"}', context)));
      return "both";
    });
    const script = [callsTools([{ name: "both" }]), answers("Done.")];
    await using scene = new ChatScene(agentOf(script, { tools: [both] }));
    await scene.chat().sendMessage({ text: "Pay" });
    const { ada, questions } = await elsewhere(scene);
    await expect.poll(async () => (await questions()).length).toBe(2);
    const { body } = await ada.get("/agents/helper/chat/chat-1");
    const chat = scene.chat("chat-1", "ada", body.messages as UIMessage[]);
    expect(askedIn(chat)).toHaveLength(2);
    const [first, second] = askedIn(chat).map(({ approval }) => approval.id);
    await chat.addToolApprovalResponse({ id: first ?? "", approved: true });
    await chat.addToolApprovalResponse({ id: second ?? "", approved: false });
    await untilPasses(() => expect(textOf(chat)).toBe("Done."));
    const states = partsOf(chat).flatMap((part) => ("state" in part ? [part.state] : []));
    expect(states).toEqual(["output-available", "output-available", "output-denied", "done"]);
    expect(scene.errors).toEqual([]);
  });

  it("is refused for a call that the chat does not have", async () => {
    await using scene = new ChatScene(payer());
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    const messages = JSON.parse(
      JSON.stringify(chat.messages).replaceAll(askedIn(chat)[0]?.toolCallId ?? "", "x"),
    ) as UIMessage[];
    const stranger = scene.chat("chat-1", "ada", messages);
    await stranger.addToolApprovalResponse({ id: askedIn(stranger)[0]?.approval.id ?? "", approved: true });
    await untilPasses(() => expect(stranger.status).toBe("error"));
    expect(stranger.error?.message).toContain('tool call \\"x\\", which is not of this chat');
    expect(scene.responses).toHaveLength(2);
  });
});

describe("a page that answers a question of a tool", () => {
  const book = defineTool({
    name: "book",
    description: "Books.",
    input: z.object({}),
    execute: (_, { asked }) => {
      const seat = asked?.state as string | undefined;
      if (asked === undefined) return toolAsks({ question: "Which seat?", state: "" });
      const answer = asked.reply.type === "answered" ? JSON.stringify(asked.reply.answer) : "none";
      return seat === "" ? toolAsks({ question: "Which meal?", state: answer }) : `${seat}, ${answer}`;
    },
  });
  const booker = () => agentOf([callsTools([{ name: "book" }]), answers("Booked.")], { tools: [book] });
  const partOf = (chat: Chat) => chat.lastMessage?.parts[1] as { toolCallId: string; toolMetadata?: object };
  const answer = (chat: Chat, output: string) =>
    chat.addToolOutput({ tool: "book" as never, toolCallId: partOf(chat).toolCallId, output });

  it("is asked the next one of the same call", async () => {
    await using scene = new ChatScene(booker());
    const chat = scene.chat();
    await chat.sendMessage({ text: "Book" });
    expect(partOf(chat)).toMatchObject({
      state: "input-available",
      toolMetadata: { question: "Which seat?" },
    });
    await answer(chat, "12A");
    await untilPasses(() =>
      expect(partOf(chat)).toMatchObject({
        state: "input-available",
        toolMetadata: { question: "Which meal?" },
      }),
    );
    await rests(scene, chat, 2);
    await answer(chat, "Rice");
    await untilPasses(() => expect(textOf(chat)).toBe("Booked."));
    await rests(scene, chat, 3);
    expect(partOf(chat)).toMatchObject({ state: "output-available", output: '"12A", "Rice"' });
    expect(scene.errors).toEqual([]);
  });

  it("answers only the question that it has seen", async () => {
    await using scene = new ChatScene(booker());
    const chat = scene.chat();
    await chat.sendMessage({ text: "Book" });
    const other = await elsewhere(scene);
    await other.decide({ answer: "14C" });
    await expect.poll(async () => (await other.questions())[0]?.question).toBe("Which meal?");
    await answer(chat, "12A");
    await untilPasses(() =>
      expect(partOf(chat)).toMatchObject({
        state: "input-available",
        toolMetadata: { question: "Which meal?" },
      }),
    );
    await rests(scene, chat, 2);
    await other.decide({ answer: "Soup" });
    await answer(chat, "Rice");
    await untilPasses(() => expect(textOf(chat)).toBe("Booked."));
    await rests(scene, chat, 3);
    expect(partOf(chat)).toMatchObject({ state: "output-available", output: '"14C", "Soup"' });
    expect(scene.errors).toEqual([]);
  });
});

describe("a chat whose loop ends with a call", () => {
  it("posts nothing by itself after a cancel", async () => {
    const waits = toolOf("wait", () => new Promise(() => undefined));
    await using scene = new ChatScene(agentOf([callsTools([{ name: "wait" }])], { tools: [waits] }));
    const chat = scene.chat();
    const sent = chat.sendMessage({ text: "Wait" });
    await untilPasses(() => expect(partsOf(chat)[1]).toMatchObject({ state: "input-available" }));
    const { ada, path } = await elsewhere(scene);
    await ada.post(`${path}/cancel`);
    await sent;
    await rests(scene, chat, 1);
    expect(partsOf(chat)).toMatchObject([{}, { state: "output-error" }, { type: "step-start" }]);
  });
});
