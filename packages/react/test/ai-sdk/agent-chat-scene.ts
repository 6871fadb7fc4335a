import type { Chat } from "@ai-sdk/react";
import { OpenRequests } from "@moora/testbed/server/open-requests";
import { untilPasses } from "@moora/testbed/test-clock";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import type { UIMessage } from "ai";
import { expect, vi } from "vitest";
import type { Agent } from "@moora/agent";
import { Scene } from "@moora/testbed/server/scene";
import { readAgentChat, useAgentChat } from "@moora/react/ai-sdk";

/** What a page shows of a chat, without the rendering of React. */
export type PageChat = Chat<UIMessage>;

let newest: PageChat;

/** In place of `useChat`: what is not rendered is read from the chat. */
export const useChatUnrendered = ({ chat }: { readonly chat: PageChat }): PageChat => (newest = chat);

/** The chat of a hook, with what the hook has changed. */
export function chatOf(hook: () => Pick<PageChat, "addToolApprovalResponse" | "addToolOutput">): PageChat {
  const { addToolApprovalResponse, addToolOutput } = hook();
  return Object.assign(newest, { addToolApprovalResponse, addToolOutput });
}

export const address = { api: "/agents/helper/chat", id: "chat-1" };

/** How many posts arrive. A page that posts without end fails then. */
const maxPosts = 50;

/** A page with `useAgentChat`, at a server. */
export class HookScene implements AsyncDisposable {
  scene: Scene;
  readonly #storage = new MemoryStorage();
  readonly requests: string[] = [];
  isOffline = false;
  readonly #open = new OpenRequests();
  #sending: Promise<void> | undefined;
  #cutBefore: string | undefined;
  /** Whether a proxy hides that a stream was cut off: the response ends in order. */
  hidesCuts = false;
  /** Whether the connection of a stream that is cut off stays open. */
  staysOpen = false;

  constructor(agent: Agent) {
    this.scene = this.#sceneOf(agent);
    vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
      const request = new Request(`http://localhost${path}`, init);
      this.requests.push(request.method);
      return await this.#open.count(() => this.#send(request));
    });
  }

  #sceneOf(agent: Agent): Scene {
    return new Scene(agent, { log: memoryLog(this.#storage) });
  }

  /** Closes the server. Another one with this agent has its address and its log from then on. */
  async restart(agent: Agent): Promise<void> {
    const before = this.scene;
    this.scene = this.#sceneOf(agent);
    await before[Symbol.asyncDispose]();
  }

  async #send(request: Request): Promise<Response> {
    await this.#sending;
    if (this.isOffline || this.posts > maxPosts) throw new TypeError("Failed to fetch");
    request.headers.set("authorization", "Bearer ada");
    return this.#cut(await this.scene.server.fetch(request), request.method);
  }

  /** Waits until the page does nothing by itself. */
  async rests(chat: PageChat): Promise<void> {
    await this.#open.settle(chat);
  }

  /** Fails the next stream of an answer before this text. */
  cutsNext(text: string): void {
    this.#cutBefore = text;
  }

  #cut(response: Response, method: string): Response {
    const before = this.#cutBefore;
    if (before === undefined || method !== "POST") return response;
    this.#cutBefore = undefined;
    const chunks = cutBody(response.body ?? [], before);
    const { hidesCuts, staysOpen } = this;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await chunks.next().catch((error: unknown) => {
          if (hidesCuts) return { done: true, value: undefined } as const;
          throw error;
        });
        if (done === true && staysOpen) return;
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    });
    return new Response(body, response);
  }

  async open(options: { readonly streamIdleMs?: number } = {}): Promise<PageChat> {
    const { messages } = await readAgentChat(address);
    return chatOf(() => useAgentChat({ ...address, messages, ...options }));
  }

  get posts(): number {
    return this.requests.filter((method) => method === "POST").length;
  }

  /** Holds the requests from now on, until the function that it returns is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#sending = promise;
    return resolve;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.scene[Symbol.asyncDispose]();
  }
}

async function* cutBody(body: AsyncIterable<Uint8Array> | [], before: string): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    const text = new TextDecoder().decode(chunk);
    const length = text.indexOf(before);
    yield length === -1 ? chunk : new TextEncoder().encode(text.slice(0, length));
    if (length !== -1) throw new TypeError("network error");
  }
}

/** Sends a message, and does something before the request arrives. */
export async function send(scene: HookScene, chat: PageChat, meanwhile: () => Promise<void>): Promise<void> {
  const release = scene.hold();
  const sent = chat.sendMessage({ text: "Hello" });
  await untilPasses(() => expect(chat.status).toBe("submitted"));
  await meanwhile();
  release();
  await sent;
  await scene.rests(chat);
}

/** Decides a question elsewhere, if it is open. */
export async function decideQuestion({ scene }: HookScene, digest: string, decision: unknown): Promise<void> {
  const ada = scene.as("ada");
  const [{ id }] = (await ada.get("/sessions")).body.sessions;
  const { questions } = (await ada.get(`/sessions/${id}`)).body;
  const question = questions.find((open: { digest: string }) => open.digest === digest);
  if (question === undefined) return;
  const { toolCallId, path } = question;
  await ada.post(`/sessions/${id}/decisions`, { toolCallId, path, digest, decision });
}

/** Decides the only open question elsewhere, and waits for the end of its loop. */
export async function decide({ scene }: HookScene, decision: object): Promise<void> {
  const ada = scene.as("ada");
  const [{ id }] = (await ada.get("/sessions")).body.sessions;
  const [{ toolCallId, digest }] = (await ada.get(`/sessions/${id}`)).body.questions;
  await ada.post(`/sessions/${id}/decisions`, { toolCallId, digest, decision });
  const control = async () => (await ada.get(`/sessions/${id}`)).body.state.reActContext.control.type;
  await expect.poll(control).toBe("Done");
}
