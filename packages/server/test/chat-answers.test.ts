import { askHuman } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { Scene } from "@moora/testbed/server/scene";
import { describe, expect, it } from "vitest";
import { pay } from "./chat-scene.ts";

const question = callsTools([{ name: "ask_human", arguments: { question: "Which?" } }]);

/** An agent that asks before it pays, or asks its user something. */
const asking = (paid: unknown[], call = callsTools([{ name: "pay" }])) =>
  agentOf([call, answers("Done.")], { tools: [pay(paid), askHuman()] });

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

  it("are refused for a question of the model, as is an output without a value", async () => {
    await using chat = await askedChat(question);
    expect((await chat.answer({ output: "red" }, { output: "blue" })).status).toBe(422);
    const { status, text } = await chat.answer({});
    expect([status, JSON.parse(text)]).toMatchObject([
      422,
      { code: "refused", detail: "A tool that asks must have an output." },
    ]);
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
