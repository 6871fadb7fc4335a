import { askHuman } from "@moora/agent";
import type { LlmOutcome } from "@moora/llm";
import { answers, callsTools, fails, hangs } from "@moora/llm/testing";
import { HandModel } from "@moora/testbed/server/hand-model";
import { agentOf } from "@moora/testbed/server/agent-of";
import { untilPasses } from "@moora/testbed/test-clock";
import { lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { ChatScene, isReady, textOf } from "@moora/testbed/server/chat-scene";
import { delegating, pay } from "./chat-scene.ts";
import { toolOf } from "./support.ts";

/** What a page shows: the parts without what the AI SDK adds to them. */
const shown = (messages: readonly UIMessage[]): unknown =>
  messages.map(({ role, metadata, parts }) => ({
    role,
    ...(role === "user" ? {} : { metadata }),
    parts: parts.map((part) => {
      const { type, text, state, toolName, input, output, errorText, approval, mediaType, url } =
        part as Record<string, unknown>;
      const isOfUser = role === "user" && type === "text";
      const fields = { type, text, toolName, input, output, errorText, approval, mediaType, url };
      return JSON.parse(JSON.stringify(isOfUser ? fields : { ...fields, state })) as object;
    }),
  }));

const askedIn = (chat: ReturnType<ChatScene["chat"]>): string => {
  const part = chat.messages
    .flatMap(({ parts }) => parts)
    .find((given) => "state" in given && given.state === "approval-requested") as {
    approval: { id: string };
  };
  return part.approval.id;
};

describe("a chat that a page reads after a reload", () => {
  it("has the messages that the page has shown", async () => {
    const drawn: LlmOutcome = {
      ...(answers("") as Extract<LlmOutcome, { ok: true }>),
      turn: {
        origin: "mock",
        parts: [
          { type: "text", text: "A dot." },
          { type: "file", file: { mediaType: "image/png", data: "AAAA" } },
        ],
      },
    };
    const broken = toolOf("broken", () => {
      throw new Error("It broke.");
    });
    const script = [
      callsTools([{ name: "add", arguments: { of: [2, 2] } }], { reasoning: "I add.", text: "Let me see." }),
      answers("It is four."),
      callsTools([{ name: "pay", id: "one" }, { name: "pay", id: "two" }, { name: "broken" }]),
      answers("Once."),
      drawn,
    ];
    const tools = [toolOf("add", () => ({ sum: 4 })), pay(), broken];
    await using scene = new ChatScene(agentOf(script, { tools }));
    const chat = scene.chat();
    const picture = { type: "file" as const, mediaType: "image/gif", url: "data:image/gif;base64,AAAA" };
    await chat.sendMessage({ text: "What is 2 + 2?", files: [picture] });
    await chat.sendMessage({ text: "Pay twice" });
    await chat.addToolApprovalResponse({ id: askedIn(chat), approved: true });
    await chat.addToolApprovalResponse({ id: askedIn(chat), approved: false, reason: "Once only." });
    await untilPasses(() => expect(textOf(chat)).toBe("Once."));
    await isReady(chat);
    await chat.sendMessage({ text: "Draw" });
    const again = await scene.reload();
    expect(shown(again.messages)).toEqual(shown(chat.messages));
    expect(again.messages.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
    await again.resumeStream();
    expect(scene.responses.at(-1)?.status).toBe(204);
    expect(again.messages).toHaveLength(6);
    expect(scene.errors).toEqual([]);
  });

  it.each(["itself", "a sub-agent"])("has an open approval of %s, which can be answered", async (asker) => {
    const script = [callsTools([{ name: "pay" }], { text: "I ask." }), answers("Done.")];
    await using scene = new ChatScene(
      asker === "itself" ? agentOf(script, { tools: [pay()] }) : delegating("pay"),
    );
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    const again = await scene.reload();
    expect(shown(again.messages)).toEqual(shown(chat.messages));
    await again.resumeStream();
    expect(shown(again.messages)).toEqual(shown(chat.messages));
    await again.addToolApprovalResponse({ id: askedIn(again), approved: true });
    await untilPasses(() => expect(textOf(again)).toMatch(/Done\.$/));
    await isReady(again);
    expect(again.messages).toHaveLength(2);
    expect(scene.errors).toEqual([]);
  });

  it("has an open question, which can be answered without the stream", async () => {
    const script = [callsTools([{ name: "ask", arguments: { question: "Which?" } }]), answers("Red.")];
    await using scene = new ChatScene(agentOf(script, { tools: [askHuman({ name: "ask" })] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Choose" });
    const again = await scene.reload();
    expect(shown(again.messages)).toEqual(shown(chat.messages));
    const part = again.lastMessage?.parts[1] as { toolCallId: string };
    await again.addToolOutput({ tool: "ask" as never, toolCallId: part.toolCallId, output: "red" });
    await untilPasses(() => expect(textOf(again)).toBe("Red."));
    await isReady(again);
    expect(shown((await scene.reload()).messages)).toEqual(shown(again.messages));
    expect(scene.errors).toEqual([]);
  });

  it("has the answer that is streamed, which a resumed stream continues without a doubled part", async () => {
    const script = [callsTools([{ name: "pay" }], { text: "I ask." }), hangs("It is"), answers("Again.")];
    await using scene = new ChatScene(agentOf(script, { tools: [pay()] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    const answered = chat.addToolApprovalResponse({ id: askedIn(chat), approved: true });
    await untilPasses(() => expect(textOf(chat)).toBe("I ask.|It is"));
    const again = await scene.reload();
    expect(shown(again.messages)).toEqual(shown(chat.messages));
    const resumed = again.resumeStream();
    await untilPasses(() => expect(again.status).toBe("streaming"));
    await untilPasses(() => expect(textOf(again)).toBe("I ask.|It is"));
    await scene.cancel();
    await Promise.all([resumed, answered]);
    await isReady(chat);
    expect(textOf(again)).toBe("I ask.|It is");
    expect(shown((await scene.reload()).messages)).toEqual(shown(again.messages));
    await again.sendMessage({ text: "Again" });
    expect(shown((await scene.reload()).messages)).toEqual(shown(again.messages));
    expect(scene.errors).toEqual([]);
  });

  it("has what canceled and failed loops have written, at its place", async () => {
    const script = [
      hangs("Once upon a time"),
      fails("auth", { message: "No key.", partial: "Half" }),
      answers("Hello."),
    ];
    await using scene = new ChatScene(agentOf(script));
    const chat = scene.chat();
    const sent = chat.sendMessage({ text: "A story" });
    await untilPasses(() => expect(textOf(chat)).toBe("Once upon a time"));
    await scene.cancel();
    await sent;
    await chat.sendMessage({ text: "Fail" });
    expect(chat.status).toBe("error");
    await chat.sendMessage({ text: "Hi" });
    const { messages } = await scene.reload();
    const texts = messages.map(({ id, role, parts }) => [
      role === "user" ? role : id,
      parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("|"),
    ]);
    expect(texts).toEqual([
      ["user", "A story"],
      ["loop_1", "Once upon a time"],
      ["user", "Fail"],
      ["loop_2", "Half"],
      ["user", "Hi"],
      ["loop_3", "Hello."],
    ]);
  });

  it("has an open question behind the messages that wait for it, and takes its answer", async () => {
    const script = [callsTools([{ name: "pay" }]), answers("Done.")];
    await using scene = new ChatScene(agentOf(script, { tools: [pay()] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    await chat.sendMessage({ text: "Hurry" });
    const { messages } = await scene.read();
    const last = lastAssistantMessageIsCompleteWithApprovalResponses;
    const again = scene.chat("chat-1", "ada", messages, last);
    await again.resumeStream();
    const order = ["user", "user", "assistant"];
    expect(again.messages.map(({ role }) => role)).toEqual(order);
    await again.addToolApprovalResponse({ id: askedIn(again), approved: true });
    await untilPasses(() => expect(textOf(again)).toBe("Done."));
    await scene.rests(again);
    const later = await scene.reload();
    expect(later.messages.map(({ role }) => role)).toEqual(order);
    expect(shown(later.messages)).toEqual(shown(again.messages));
    expect(scene.errors).toEqual([]);
  });

  it("has the messages of two windows before the answer to both", async () => {
    const model = new HandModel();
    await using scene = new ChatScene(agentOf(model));
    const [first, second] = [scene.chat(), scene.chat()];
    const sent = first.sendMessage({ text: "First" });
    const one = await model.attempt(1);
    one.write("To the first.");
    await untilPasses(() => expect(textOf(first)).toBe("To the first."));
    const other = second.sendMessage({ text: "Second" });
    await untilPasses(() => expect(textOf(second)).toBe("To the first."));
    one.end();
    const two = await model.attempt(2);
    two.write("To the second.");
    const inTheMiddle = await scene.reload();
    two.end();
    await Promise.all([sent, other]);
    const order = ["user: First", "user: Second", "assistant: To the first.|To the second."];
    const textIn = ({ parts }: UIMessage): string =>
      parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("|");
    for (const { messages } of [inTheMiddle, await scene.reload()]) {
      const texts = messages.map((message) => `${message.role}: ${textIn(message)}`);
      expect(texts).toEqual(order);
    }
    expect(scene.errors).toEqual([]);
  });

  it("has an answer to its end that was completed between the reading and the stream", async () => {
    const model = new HandModel();
    await using scene = new ChatScene(agentOf(model));
    const chat = scene.chat();
    const sent = chat.sendMessage({ text: "Count" });
    const attempt = await model.attempt(1);
    attempt.write("one ");
    await untilPasses(() => expect(textOf(chat)).toBe("one "));
    const [again, later] = [await scene.reload(), await scene.reload()];
    attempt.write("two");
    attempt.end();
    await sent;
    for (const page of [again, later]) {
      expect(textOf(page)).toBe("one ");
      await page.resumeStream();
      expect(page.status).toBe("ready");
      expect(shown(page.messages)).toEqual(shown(chat.messages));
    }
    const whole = await scene.reload();
    await whole.resumeStream();
    expect(scene.responses.at(-1)?.status).toBe(204);
    expect(shown(whole.messages)).toEqual(shown(chat.messages));
    expect(scene.errors).toEqual([]);
  });

  it("has nothing of a text that a message with the interjection restart has cut off", async () => {
    const model = new HandModel();
    await using scene = new ChatScene(agentOf(model, { config: { interjection: "restart" } }));
    const [first, second] = [scene.chat(), scene.chat()];
    const sent = first.sendMessage({ text: "First" });
    (await model.attempt(1)).write("Half an ");
    await untilPasses(() => expect(textOf(first)).toBe("Half an "));
    const other = second.sendMessage({ text: "Second" });
    const attempt = await model.attempt(2);
    attempt.write("A whole answer.");
    attempt.end();
    await Promise.all([sent, other]);
    expect(textOf(first)).toBe("Half an ");
    const { messages } = await scene.read();
    expect(messages.map(({ role, id }) => (role === "user" ? role : id))).toEqual(["user", "user", "loop_2"]);
    expect(scene.errors).toEqual([]);
  });

  it("has the rest of a stream that was cut off, which another page has read before it resumes", async () => {
    const model = new HandModel();
    await using scene = new ChatScene(agentOf(model));
    const chat = scene.chat();
    const sent = chat.sendMessage({ text: "Count" });
    const attempt = await model.attempt(1);
    attempt.write("one ");
    await untilPasses(() => expect(textOf(chat)).toBe("one "));
    await chat.stop();
    await sent;
    const other = await scene.reload();
    const resumed = other.resumeStream();
    attempt.write("two");
    attempt.end();
    await resumed;
    await chat.resumeStream();
    expect(scene.responses.at(-1)?.status).toBe(204);
    expect(textOf(chat)).toBe("one ");
    expect(textOf(await scene.reload())).toBe("one two");
  });

  it("is empty before its first message, and for any other user", async () => {
    await using scene = new ChatScene(agentOf(() => answers("Hello.")));
    expect(await scene.read()).toEqual({ session: null, messages: [] });
    const chat = scene.chat();
    await chat.sendMessage({ text: "Hi" });
    const { session } = await scene.read();
    expect(await scene.read("chat-1", "eve")).toEqual({ session: null, messages: [] });
    expect(await scene.read(session ?? "", "eve")).toEqual({ session: null, messages: [] });
    expect((await scene.scene.as("ada").get("/agents/unknown/chat/chat-1")).status).toBe(404);
  });
});

describe("the session of a chat", () => {
  it("is named by the responses, by the messages and by the chat itself", async () => {
    await using scene = new ChatScene(agentOf(() => answers("Hello.")));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Hi" });
    const ada = scene.scene.as("ada");
    const [{ id }] = (await ada.get("/sessions")).body.sessions;
    await chat.resumeStream();
    expect(scene.responses.map(({ headers }) => headers.get("moora-session"))).toEqual([id, id]);
    expect(chat.lastMessage?.metadata).toEqual({ session: id });
    const { body, headers } = await ada.get("/agents/helper/chat/chat-1");
    expect(body.session).toBe(id);
    expect(headers.get("moora-session")).toBe(id);
    expect((await ada.get(`/sessions/${headers.get("moora-session")}`)).status).toBe(200);
  });
});
