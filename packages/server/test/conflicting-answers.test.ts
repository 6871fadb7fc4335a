import { askHuman } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import { pay } from "./chat-scene.ts";
import { Scene } from "@moora/testbed/server/scene";

/** An answer in a run of AG-UI. */
interface Given {
  readonly status: "resolved" | "cancelled";
  readonly payload?: Readonly<Record<string, unknown>>;
}

const approval: Given = { status: "resolved", payload: { approved: true } };
const rejection: Given = { status: "resolved", payload: { approved: false } };
const cancellation: Given = { status: "cancelled" };
const changed = (cents: number): Given => ({
  status: "resolved",
  payload: { approved: true, editedArgs: { cents } },
});
const refusal = (reason: string): Given => ({ status: "resolved", payload: { approved: false, reason } });
const reply = (answer: string): Given => ({ status: "resolved", payload: { answer } });

const question = callsTools([{ name: "ask_human", arguments: { question: "Which?" } }]);

/** An agent that asks before it pays, or asks its user something. */
const asking = (paid: unknown[], call = callsTools([{ name: "pay" }])) =>
  agentOf([call, answers("Done.")], { tools: [pay(paid), askHuman()] });

/** A run that has ended with one interrupt. */
async function askedRun(call = callsTools([{ name: "pay" }])) {
  const paid: unknown[] = [];
  const scene = new AgUiScene(asking(paid, call));
  const client = scene.client();
  await say(client, "Pay");
  const interruptId = scene.interrupts[0]?.id ?? "";
  return {
    scene,
    client,
    paid,
    resume: (given: readonly Given[]) =>
      client.runAgent({ resume: given.map((answer) => ({ interruptId, ...answer })) }).catch(() => undefined),
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  };
}

describe("two different answers of one run to an interrupt", () => {
  it.each<[string, Given, Given]>([
    ["an approval and a rejection", approval, rejection],
    ["a rejection and an approval", rejection, approval],
    ["an approval and a cancellation", approval, cancellation],
    ["changed arguments and the original ones", changed(1), approval],
    ["arguments that are changed in two ways", changed(1), changed(2)],
    ["two reasons of a rejection", refusal("Too much."), refusal("Too late.")],
  ])("end it with an error, and the question stays open: %s", async (_, first, second) => {
    await using run = await askedRun();
    await run.resume([first, second]);
    expect(run.scene.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "conflicting-answers" });
    expect(JSON.stringify(run.scene.events.at(-1))).toContain("two different answers");
    expect(run.paid).toEqual([]);
    await run.resume([approval]);
    expect(run.paid).toEqual([{}]);
    expect(run.scene.outcome).toEqual({ type: "success" });
  });

  it("end it with an error for a question of the model", async () => {
    await using run = await askedRun(question);
    await run.resume([reply("red"), reply("blue")]);
    expect(run.scene.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "conflicting-answers" });
    await run.resume([reply("red")]);
    expect(run.client.messages).toContainEqual(expect.objectContaining({ role: "tool", content: "red" }));
  });
});

describe("two equal answers of one run to an interrupt", () => {
  it.each<[string, Given, Given, number]>([
    ["approvals", approval, approval, 1],
    ["rejections", rejection, cancellation, 0],
    ["changed arguments", changed(1), changed(1), 1],
  ])("count as one: %s", async (_, first, second, times) => {
    await using run = await askedRun();
    await run.resume([first, second]);
    expect(run.scene.outcome).toEqual({ type: "success" });
    expect(run.paid).toHaveLength(times);
  });
});

interface Part {
  readonly toolCallId?: string;
  readonly approval: { readonly id: string };
}

interface ChatAnswer {
  readonly approved?: boolean;
  readonly output?: string;
}

/** A chat with open questions. `answer` posts the message with the last one once for each answer, `send` posts it with these parts. */
async function askedChat(call = callsTools([{ name: "pay" }])) {
  const paid: unknown[] = [];
  const scene = new Scene(asking(paid, call));
  const ada = scene.as("ada");
  const post = async (message: object) => {
    const body = JSON.stringify({ id: "chat-1", messages: [message] });
    const headers = { "content-type": "application/json" };
    const response = await ada.send("/agents/helper/chat", { method: "POST", headers, body });
    return { status: response.status, text: await response.text() };
  };
  await post({ id: "m1", role: "user", parts: [{ type: "text", text: "Pay" }] });
  const message = (await ada.get("/agents/helper/chat/chat-1")).body.messages.at(-1);
  const parts = message.parts.filter(({ toolCallId }: Part) => toolCallId !== undefined) as readonly Part[];
  const part = message.parts.at(-1);
  const partOf = ({ approved, output }: ChatAnswer) =>
    approved === undefined
      ? { ...part, state: "output-available", output }
      : { ...part, state: "approval-responded", approval: { ...part.approval, approved } };
  return {
    paid,
    parts,
    send: (given: readonly unknown[]) => post({ ...message, parts: given }),
    answer: (...given: readonly ChatAnswer[]) => post({ ...message, parts: given.map(partOf) }),
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  };
}

describe("two different answers in one message of a chat", () => {
  it.each([true, false])("are refused, and the question stays open: first approved %s", async (approved) => {
    await using chat = await askedChat();
    const { status, text } = await chat.answer({ approved }, { approved: !approved });
    expect([status, JSON.parse(text)]).toMatchObject([422, { code: "refused", path: "messages" }]);
    expect(text).toContain("two different answers");
    expect(chat.paid).toEqual([]);
    expect((await chat.answer({ approved: true }, { approved: true })).text).toContain("Done.");
    expect(chat.paid).toEqual([{}]);
  });

  it("are refused for a question of the model", async () => {
    await using chat = await askedChat(question);
    expect((await chat.answer({ output: "red" }, { output: "blue" })).status).toBe(422);
    expect((await chat.answer({ output: "red" })).text).toContain("Done.");
  });
});

describe("an approval in a chat with the id of the question about another call", () => {
  it.each([true, false])("is refused, and both questions stay open: approved %s", async (approved) => {
    const calls = [1, 2].map((cents) => ({ name: "pay", arguments: { cents } }));
    await using chat = await askedChat(callsTools(calls));
    const [one, two] = chat.parts;
    const answered = { ...one, state: "approval-responded", approval: { ...two?.approval, approved } };
    const { status, text } = await chat.send([answered, two]);
    expect([status, JSON.parse(text)]).toMatchObject([422, { code: "refused", path: "messages" }]);
    expect(text).toContain("must have the id of the question about its call");
    expect(chat.paid).toEqual([]);
    await chat.send([one, { ...two, state: "approval-responded", approval: { ...two?.approval, approved } }]);
    expect(chat.paid).toEqual(approved ? [{ cents: 2 }] : []);
  });
});
