import { Chat } from "@ai-sdk/react";
import { agentTool, askHuman } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { expect } from "vitest";
import { OpenRequests } from "./open-requests.ts";
import { agentOf, Scene, toolOf } from "./support.ts";

/** A chat of the AI SDK, with its own transport, at a server. */
export class ChatScene implements AsyncDisposable {
  readonly scene: Scene;
  readonly responses: Response[] = [];
  readonly errors: Error[] = [];
  readonly #open = new OpenRequests();

  constructor(agent: ReturnType<typeof agentOf>, options: ConstructorParameters<typeof Scene>[1] = {}) {
    this.scene = new Scene(agent, options);
  }

  chat(
    id = "chat-1",
    user = "ada",
    messages: UIMessage[] = [],
    sendAutomaticallyWhen: (given: { messages: UIMessage[] }) => boolean = (given) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(given) ||
      lastAssistantMessageIsCompleteWithToolCalls(given),
  ): Chat<UIMessage> {
    return new Chat({
      id,
      messages,
      onError: (error) => void this.errors.push(error),
      sendAutomaticallyWhen,
      transport: new DefaultChatTransport({
        api: "http://localhost/agents/helper/chat",
        headers: { authorization: `Bearer ${user}` },
        fetch: (input, init) => this.#open.count(() => this.#send(new Request(input, init))),
      }),
    });
  }

  async #send(request: Request): Promise<Response> {
    const response = await this.scene.server.fetch(request);
    this.responses.push(response.clone());
    return response;
  }

  /** Waits until the page does nothing by itself. */
  async rests(chat: Chat<UIMessage>): Promise<void> {
    await this.#open.settle(chat);
  }

  /** The texts of the chunks of a response. */
  async chunksOf(index: number): Promise<readonly string[]> {
    const text = (await this.responses.at(index)?.text()) ?? "";
    return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) =>
      data === "[DONE]" ? data : (JSON.parse(data) as { type: string }).type,
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.scene[Symbol.asyncDispose]();
  }
}

/** An agent whose sub-agent asks before it pays, or asks its user something. */
export function delegating(call: "pay" | "ask_human", ran: unknown[] = []) {
  const given = call === "pay" ? { cents: 5 } : { question: "How much?" };
  const cashier = agentOf([callsTools([{ name: call, arguments: given }]), answers("It is done.")], {
    name: "cashier",
    tools: [call === "pay" ? pay(ran) : askHuman()],
  });
  return agentOf([callsTools([{ name: "cashier", arguments: { task: "Pay" } }]), answers("Done.")], {
    tools: [agentTool(cashier, { name: "cashier", description: "Pays." })],
  });
}

/** The parts of the last message, as far as a test compares them. */
export const partsOf = (chat: Chat<UIMessage>): readonly object[] =>
  (chat.lastMessage?.parts ?? []).map((part) => {
    const { type, text, state, input, output, errorText, approval } = part as Record<string, unknown>;
    return JSON.parse(JSON.stringify({ type, text, state, input, output, errorText, approval })) as object;
  });

export const textOf = (chat: Chat<UIMessage>): string =>
  (chat.lastMessage?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("|");

export const isReady = (chat: Chat<UIMessage>) => untilPasses(() => expect(chat.status).toBe("ready"));

export const pay = (ran: unknown[] = []) =>
  toolOf("pay", (input) => (ran.push(input), { paid: true }), { approval: "always" });
