import { Chat } from "@ai-sdk/react";
import { askHuman } from "@moora/agent";
import { chatViewSchema } from "@moora/agent-webui-protocol";
import { answers, callsTools } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { describe, expect, expectTypeOf, it } from "vitest";
import { createAgentServer } from "../src/index.ts";
import { memoryLog } from "@moora/event-log";
import { delegating, pay } from "./chat-scene.ts";
import { agentOf, Scene } from "./support.ts";

/** The tools as the page knows them. */
type ShopTools = {
  pay: { input: { cents: number }; output: { paid: boolean } };
  ask: { input: { question: string }; output: string };
};
type ShopMessage = UIMessage<{ session: string }, never, ShopTools>;

/** A page with the types of its tools, at a server. */
function chatAt({ server }: Scene, messages: ShopMessage[] = []): Chat<ShopMessage> {
  return new Chat<ShopMessage>({
    id: "chat-1",
    messages,
    sendAutomaticallyWhen: (given) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(given) ||
      lastAssistantMessageIsCompleteWithToolCalls(given),
    transport: new DefaultChatTransport({
      api: "http://localhost/agents/helper/chat",
      headers: { authorization: "Bearer ada" },
      fetch: (input, init) => server.fetch(new Request(input, init)),
    }),
  });
}

/** The messages of the chat after a reload. */
async function reloaded(scene: Scene): Promise<ShopMessage[]> {
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
    await using scene = new Scene(agentOf(script, { tools: [pay(ran)] }), staticParts);
    const chat = chatAt(scene);
    await chat.sendMessage({ text: "Pay" });
    const asked = chat.lastMessage?.parts.find(({ type }) => type === "tool-pay");
    if (asked?.type !== "tool-pay" || asked.state !== "approval-requested") throw new Error("No approval.");
    expectTypeOf(asked.input).toEqualTypeOf<{ cents: number }>();
    expect(asked.input.cents).toBe(5);
    expect(await reloaded(scene)).toMatchObject([{ role: "user" }, { parts: [{}, { type: "tool-pay" }] }]);
    await chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
    await untilPasses(() => expect(typesOf(chat)).toContain("text"));
    await untilPasses(() => expect(chat.status).toBe("ready"));
    const paid = chat.lastMessage?.parts.find(({ type }) => type === "tool-pay");
    if (paid?.type !== "tool-pay" || paid.state !== "output-available") throw new Error("No output.");
    expectTypeOf(paid.output).toEqualTypeOf<{ paid: boolean }>();
    expect(paid.output).toEqual({ paid: true });
    expect(typesOf(chat)).toEqual(["step-start", "tool-pay", "step-start", "text"]);
    expect(shown(await reloaded(scene))).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: "tool-pay", state: "output-available" })]),
    );
    expect(ran).toHaveLength(1);
    expect(scene.errors).toEqual([]);
  });

  it("answers a question after a reload", async () => {
    const script = [
      callsTools([{ name: "ask", arguments: { question: "Which?" } }]),
      answers("The red one."),
    ];
    await using scene = new Scene(agentOf(script, { tools: [askHuman({ name: "ask" })] }), staticParts);
    await chatAt(scene).sendMessage({ text: "Choose" });
    const chat = chatAt(scene, await reloaded(scene));
    const part = chat.lastMessage?.parts.find(({ type }) => type === "tool-ask");
    if (part?.type !== "tool-ask") throw new Error("No question.");
    await chat.addToolOutput({ tool: "ask", toolCallId: part.toolCallId, output: "red" });
    await untilPasses(() => expect(typesOf(chat)).toContain("text"));
    await untilPasses(() => expect(chat.status).toBe("ready"));
    expect(typesOf(chat)).toEqual(["step-start", "tool-ask", "step-start", "text"]);
    expect(scene.errors).toEqual([]);
  });

  it("shows the question of a sub-agent as a dynamic tool, which no page knows", async () => {
    await using scene = new Scene(delegating("pay"), staticParts);
    const chat = chatAt(scene);
    await chat.sendMessage({ text: "Pay" });
    expect(typesOf(chat)).toEqual(["step-start", "tool-cashier", "step-start", "dynamic-tool"]);
    expect(shown(await reloaded(scene))).toEqual(shown(chat.messages));
    expect(scene.errors).toEqual([]);
  });
});

describe("the option toolParts", () => {
  it("is checked", () => {
    const options = { agents: [agentOf([])], log: memoryLog(), toolParts: "typed" };
    expect(() => createAgentServer(options as never)).toThrow(
      /toolParts must be one of dynamic, static, got "typed"/,
    );
  });
});
