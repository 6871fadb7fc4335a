import type { Chat } from "@ai-sdk/react";
import { askHuman } from "@moora/agent";
import { chatViewSchema } from "@moora/agent-webui-protocol";
import { answers, callsTools } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import type { UIMessage } from "ai";
import { describe, expect, expectTypeOf, it } from "vitest";
import { createAgentServer } from "../src/index.ts";
import { memoryLog } from "@moora/event-log";
import { agentOf } from "@moora/testbed/server/agent-of";
import { delegating, pay } from "./chat-scene.ts";
import { ChatScene } from "@moora/testbed/server/chat-scene";

/** The tools as the page knows them. */
type ShopTools = {
  pay: { input: { cents: number }; output: { paid: boolean } };
  ask: { input: { question: string }; output: string };
};
type ShopMessage = UIMessage<{ session: string }, never, ShopTools>;

/** A page with the types of its tools. */
const chatAt = (page: ChatScene, messages: ShopMessage[] = []): Chat<ShopMessage> =>
  page.chat<ShopMessage>("chat-1", "ada", messages);

/** The messages of the chat after a reload. */
async function reloaded({ scene }: ChatScene): Promise<ShopMessage[]> {
  const { body } = await scene.as("ada").get("/agents/helper/chat/chat-1");
  expect(chatViewSchema.parse(body)).toEqual(body);
  return body.messages;
}

const shown = (messages: readonly ShopMessage[]): unknown =>
  JSON.parse(JSON.stringify(messages.at(-1)?.parts));

const typesOf = (chat: Chat<ShopMessage>): readonly string[] =>
  (chat.lastMessage?.parts ?? []).map(({ type }) => type);

const staticParts = { toolParts: "static" } as const;

describe("a chat with static tools", () => {
  it("shows a call as the part of its tool, with the types of the page", async () => {
    const script = [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("It is paid.")];
    const ran: unknown[] = [];
    await using page = new ChatScene(agentOf(script, { tools: [pay(ran)] }), staticParts);
    const chat = chatAt(page);
    await chat.sendMessage({ text: "Pay" });
    const asked = chat.lastMessage?.parts.find(({ type }) => type === "tool-pay");
    if (asked?.type !== "tool-pay" || asked.state !== "approval-requested") throw new Error("No approval.");
    expectTypeOf(asked.input).toEqualTypeOf<{ cents: number }>();
    expect(asked.input.cents).toBe(5);
    expect(await reloaded(page)).toMatchObject([{ role: "user" }, { parts: [{}, { type: "tool-pay" }] }]);
    await chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
    await untilPasses(() => expect(typesOf(chat)).toContain("text"));
    await untilPasses(() => expect(chat.status).toBe("ready"));
    const paid = chat.lastMessage?.parts.find(({ type }) => type === "tool-pay");
    if (paid?.type !== "tool-pay" || paid.state !== "output-available") throw new Error("No output.");
    expectTypeOf(paid.output).toEqualTypeOf<{ paid: boolean }>();
    expect(paid.output).toEqual({ paid: true });
    expect(typesOf(chat)).toEqual(["step-start", "tool-pay", "step-start", "text"]);
    expect(shown(await reloaded(page))).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: "tool-pay", state: "output-available" })]),
    );
    expect(ran).toHaveLength(1);
    expect([page.errors, page.scene.errors]).toEqual([[], []]);
  });

  it("answers a question after a reload", async () => {
    const script = [
      callsTools([{ name: "ask", arguments: { question: "Which?" } }]),
      answers("The red one."),
    ];
    await using page = new ChatScene(agentOf(script, { tools: [askHuman({ name: "ask" })] }), staticParts);
    await chatAt(page).sendMessage({ text: "Choose" });
    const chat = chatAt(page, await reloaded(page));
    const part = chat.lastMessage?.parts.find(({ type }) => type === "tool-ask");
    if (part?.type !== "tool-ask") throw new Error("No question.");
    await chat.addToolOutput({ tool: "ask", toolCallId: part.toolCallId, output: "red" });
    await untilPasses(() => expect(typesOf(chat)).toContain("text"));
    await untilPasses(() => expect(chat.status).toBe("ready"));
    expect(typesOf(chat)).toEqual(["step-start", "tool-ask", "step-start", "text"]);
    expect([page.errors, page.scene.errors]).toEqual([[], []]);
  });

  it("shows the question of a sub-agent as a dynamic tool, which no page knows", async () => {
    await using page = new ChatScene(delegating("pay"), staticParts);
    const chat = chatAt(page);
    await chat.sendMessage({ text: "Pay" });
    expect(typesOf(chat)).toEqual(["step-start", "tool-cashier", "step-start", "dynamic-tool"]);
    expect(shown(await reloaded(page))).toEqual(shown(chat.messages));
    expect([page.errors, page.scene.errors]).toEqual([[], []]);
  });
});

describe("the option toolParts", () => {
  it("is checked", () => {
    const options = { agents: [agentOf([])], log: memoryLog(), toolParts: "typed" };
    expect(() => createAgentServer(options as never)).toThrow(
      /toolParts must be "dynamic" or "static", got "typed"/,
    );
  });
});
