import { Chat } from "@ai-sdk/react";
import type { Agent } from "@moora/agent";
import { chatViewSchema, type ChatView } from "@moora/agent-webui-protocol";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { expect } from "vitest";
import { untilPasses } from "../test-clock.ts";
import { OpenRequests } from "./open-requests.ts";
import { Scene } from "./scene.ts";

/** A chat of the AI SDK, with its own transport, at a server. */
export class ChatScene implements AsyncDisposable {
  readonly scene: Scene;
  readonly responses: Response[] = [];
  readonly errors: Error[] = [];
  readonly #open = new OpenRequests();

  constructor(agent: Agent<unknown>, options: ConstructorParameters<typeof Scene>[1] = {}) {
    this.scene = new Scene(agent, options);
  }

  chat<Message extends UIMessage = UIMessage>(
    id = "chat-1",
    user = "ada",
    messages: NoInfer<Message>[] = [],
    sendAutomaticallyWhen: (given: { messages: UIMessage[] }) => boolean = (given) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(given) ||
      lastAssistantMessageIsCompleteWithToolCalls(given),
  ): Chat<Message> {
    return new Chat<Message>({
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

  /** The chat as a page reads it before it shows anything. */
  async read(id = "chat-1", user = "ada"): Promise<ChatView> {
    const { body } = await this.scene.as(user).get(`/agents/helper/chat/${id}`);
    return chatViewSchema.parse(body);
  }

  /** The page after a reload. */
  async reload(): Promise<Chat<UIMessage>> {
    const { messages } = await this.read();
    return this.chat("chat-1", "ada", messages);
  }

  /** Cancels what the chat runs, as another client does. */
  async cancel(): Promise<void> {
    const { session } = await this.read();
    await this.scene.as("ada").post(`/sessions/${session}/cancel`);
  }

  async #send(request: Request): Promise<Response> {
    const response = await this.scene.server.fetch(request);
    this.responses.push(response.clone());
    return response;
  }

  /** Waits until the page does nothing by itself. */
  async rests(chat: Pick<Chat<UIMessage>, "status">): Promise<void> {
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

export const textOf = (chat: Chat<UIMessage>): string =>
  (chat.lastMessage?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("|");

export const isReady = (chat: Chat<UIMessage>) => untilPasses(() => expect(chat.status).toBe("ready"));
