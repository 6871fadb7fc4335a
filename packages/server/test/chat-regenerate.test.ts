import { answers, callsTools, fails } from "@moora/llm/testing";
import { HandModel } from "@moora/testbed/server/hand-model";
import { agentOf } from "@moora/testbed/server/agent-of";
import { untilPasses } from "@moora/testbed/test-clock";
import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { ChatScene } from "@moora/testbed/server/chat-scene";
import { pay } from "./chat-scene.ts";

/** What a page shows: the roles and the texts of its messages. */
const shown = (messages: readonly UIMessage[]): readonly string[] =>
  messages.map(
    ({ role, parts }) =>
      `${role}: ${parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("|")}`,
  );

const userMessages = async (scene: ChatScene): Promise<number> =>
  (await scene.read()).messages.filter(({ role }) => role === "user").length;

/** A chat that shows how the answer begins. */
async function begun(scene: ChatScene, model: HandModel, text: string) {
  const chat = scene.chat();
  const sent = chat.sendMessage({ text: "Hi" });
  const attempt = await model.attempt(1);
  attempt.write(text);
  await untilPasses(() => expect(shown(chat.messages).at(-1)).toBe(`assistant: ${text}`));
  return { chat, sent, attempt };
}

describe("an answer that a page asks for once more", () => {
  it.each(["the page", "the page after a reload"])("is written after a failed loop, in %s", async (where) => {
    await using scene = new ChatScene(agentOf([fails("auth", { message: "No key." }), answers("Hello.")]));
    const first = scene.chat();
    await first.sendMessage({ text: "Hi" });
    expect(first.error?.message).toContain("No key.");
    const chat = where === "the page" ? first : await scene.reload();
    await chat.regenerate();
    expect(chat.status).toBe("ready");
    expect(shown(chat.messages)).toEqual(["user: Hi", "assistant: Hello."]);
    expect(shown((await scene.read()).messages)).toEqual(shown(chat.messages));
  });

  it("replaces the beginning of a failed answer, which the log keeps", async () => {
    const script = [fails("auth", { partial: "Half" }), fails("auth", { partial: "Hel" }), answers("Hello.")];
    await using scene = new ChatScene(agentOf(script));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Hi" });
    expect(shown(chat.messages)).toEqual(["user: Hi", "assistant: Half"]);
    await chat.regenerate();
    expect(shown(chat.messages)).toEqual(["user: Hi", "assistant: Hel"]);
    const again = await scene.reload();
    const before = ["user: Hi", "assistant: Half", "assistant: Hel"];
    expect(shown(again.messages)).toEqual(before);
    await again.regenerate();
    expect(shown(again.messages)).toEqual([...before.slice(0, 2), "assistant: Hello."]);
    expect(shown((await scene.read()).messages)).toEqual([...before, "assistant: Hello."]);
    expect(await userMessages(scene)).toBe(1);
  });

  it("is the one that is being written, if the page has only stopped reading", async () => {
    const model = new HandModel();
    await using scene = new ChatScene(agentOf(model));
    const { chat, sent, attempt } = await begun(scene, model, "One ");
    await chat.stop();
    await sent;
    const again = chat.regenerate();
    await untilPasses(() => expect(scene.responses).toHaveLength(2));
    await untilPasses(() => expect(shown(chat.messages).at(-1)).toBe("assistant: One "));
    attempt.write("answer.");
    attempt.end();
    await again;
    expect(shown(chat.messages)).toEqual(["user: Hi", "assistant: One answer."]);
    expect(scene.errors).toEqual([]);
  });

  it("is the one that was completed after the page has stopped reading", async () => {
    const model = new HandModel();
    await using scene = new ChatScene(agentOf(model));
    const { chat, sent, attempt } = await begun(scene, model, "One ");
    await chat.stop();
    await sent;
    attempt.write("answer.");
    attempt.end();
    const ada = scene.scene.as("ada");
    // The page does not read the chat: what it has read it has shown.
    const [{ id }] = (await ada.get("/sessions")).body.sessions;
    const control = async () => (await ada.get(`/sessions/${id}`)).body.state.reActContext.control.type;
    await expect.poll(control).toBe("Done");
    await chat.regenerate();
    expect(shown(chat.messages)).toEqual(["user: Hi", "assistant: One answer."]);
    expect(scene.errors).toEqual([]);
  });

  it("has its open question again", async () => {
    const ran: unknown[] = [];
    const script = [callsTools([{ name: "pay" }], { text: "I ask." }), answers("Paid.")];
    await using scene = new ChatScene(agentOf(script, { tools: [pay(ran)] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    const before = structuredClone(chat.lastMessage?.parts);
    await chat.regenerate();
    expect(chat.lastMessage?.parts).toEqual(before);
    const asked = before?.find((part) => "approval" in part) as { approval: { id: string } };
    await chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
    await scene.rests(chat);
    expect(ran).toHaveLength(1);
    expect(shown(chat.messages)).toEqual(["user: Pay", "assistant: I ask.|Paid."]);
    expect(scene.errors).toEqual([]);
  });

  it("is the first one to a message that has not reached the server", async () => {
    await using scene = new ChatScene(agentOf([answers("Hello.")]));
    const lost: UIMessage = { id: "message-1", role: "user", parts: [{ type: "text", text: "Hi" }] };
    const chat = scene.chat("chat-1", "ada", [lost]);
    await chat.regenerate();
    expect(shown(chat.messages)).toEqual(["user: Hi", "assistant: Hello."]);
    expect(shown((await scene.read()).messages)).toEqual(shown(chat.messages));
    expect(scene.errors).toEqual([]);
  });
});

describe("a complete answer that a page asks for once more", () => {
  it("stays in the page, with an error that says why", async () => {
    await using scene = new ChatScene(agentOf([answers("Hello."), answers("Again.")]));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Hi" });
    const before = structuredClone(chat.messages);
    await chat.regenerate();
    expect(chat.status).toBe("error");
    expect(chat.error?.message).toBe(
      "This answer is complete. It is not written again, because the log keeps what was said. Send a new message.",
    );
    expect(shown(chat.messages)).toEqual(shown(before));
    await chat.sendMessage({ text: "More" });
    expect(shown(chat.messages)).toEqual([...shown(before), "user: More", "assistant: Again."]);
  });

  it("stays if it is an older one", async () => {
    await using scene = new ChatScene(agentOf([answers("One."), answers("Two."), answers("Three.")]));
    const chat = scene.chat();
    await chat.sendMessage({ text: "First" });
    await chat.sendMessage({ text: "Second" });
    await chat.regenerate({ messageId: "loop_1" });
    expect(chat.error?.message).toContain("Only the newest answer can be tried again.");
    expect(shown(chat.messages)).toEqual(["user: First", "assistant: One."]);
    expect(shown((await scene.read()).messages)).toHaveLength(4);
  });

  it("is refused without the message that it answers", async () => {
    await using scene = new ChatScene(agentOf([answers("Hello.")]));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Hi" });
    const { status, body } = await scene.scene.as("ada").post("/agents/helper/chat", {
      id: "chat-1",
      messages: chat.messages.slice(1),
      trigger: "regenerate-message",
    });
    expect([status, body.code, body.path]).toEqual([422, "refused", "messages"]);
  });
});
