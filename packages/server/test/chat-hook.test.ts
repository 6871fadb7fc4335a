import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Chat } from "@ai-sdk/react";
import { askHuman } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { Page } from "@moora/testbed/page";
import { turn, untilPasses } from "@moora/testbed/test-clock";
import type { ChatInit, UIMessage } from "ai";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { agentOf, Scene, toolOf } from "./support.ts";

/** What a page has of a chat, without the rendering of React. */
class PageChat extends Chat<UIMessage> {
  readonly setMessages = (change: (messages: UIMessage[]) => UIMessage[]): void => {
    this.messages = change(this.messages);
  };
}

vi.mock("@ai-sdk/react", async (original) => ({
  ...(await original<object>()),
  useChat: (options: ChatInit<UIMessage>) => new PageChat(options),
}));

interface Documented {
  readonly readChat: (id: string) => Promise<{ readonly messages: UIMessage[] }>;
  readonly useAgentChat: (id: string, initial: UIMessage[]) => PageChat;
}

let folder: string;
let page: Documented;

beforeAll(async () => {
  folder = mkdtempSync(join(import.meta.dirname, ".fences-"));
  const file = join(folder, "chat.tsx");
  writeFileSync(file, new Page("docs/server.md").block("tsx"));
  // The module exports what the page says.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  page = (await import(/* @vite-ignore */ file)) as Documented;
});

afterEach(() => {
  vi.unstubAllGlobals();
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A page with the hook of the documentation, at a server. */
class HookScene implements AsyncDisposable {
  readonly scene: Scene;
  readonly requests: string[] = [];
  isOffline = false;
  #sending: Promise<void> | undefined;

  constructor(agent: ReturnType<typeof agentOf>) {
    this.scene = new Scene(agent);
    vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
      const request = new Request(`http://localhost${path}`, init);
      this.requests.push(request.method);
      await this.#sending;
      if (this.isOffline) throw new TypeError("Failed to fetch");
      request.headers.set("authorization", "Bearer ada");
      return await this.scene.server.fetch(request);
    });
  }

  async open(): Promise<PageChat> {
    return page.useAgentChat("chat-1", (await page.readChat("chat-1")).messages);
  }

  get posts(): number {
    return this.requests.filter((method) => method === "POST").length;
  }

  /** Sends a message, and does something before the request arrives. */
  async send(chat: PageChat, text: string, meanwhile: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#sending = promise;
    const sent = chat.sendMessage({ text });
    await untilPasses(() => expect(chat.status).toBe("submitted"));
    await meanwhile();
    resolve();
    await sent;
    await this.rests(chat);
  }

  /** Decides the only open question elsewhere, and waits for the end of its loop. */
  async decide(decision: object): Promise<void> {
    const ada = this.scene.as("ada");
    const [{ id }] = (await ada.get("/sessions")).body.sessions;
    const [{ toolCallId, digest }] = (await ada.get(`/sessions/${id}`)).body.questions;
    await ada.post(`/sessions/${id}/decisions`, { toolCallId, digest, decision });
    const control = async () => (await ada.get(`/sessions/${id}`)).body.state.reActContext.control.type;
    await expect.poll(control).toBe("Done");
  }

  /** Waits until the page does nothing by itself. */
  async rests(chat: PageChat): Promise<void> {
    await untilPasses(() => expect(chat.status).toMatch(/^(?:ready|error)$/));
    for (let turns = 0; turns < 50; turns += 1) await turn();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.scene[Symbol.asyncDispose]();
  }
}

interface Part {
  readonly toolCallId: string;
  readonly state: string;
  readonly approval?: { readonly id: string };
}

/** The call of the first answer of a chat. */
const callOf = (chat: PageChat): Part => chat.messages[1]?.parts[1] as never;

const textsOf = ({ parts }: UIMessage): readonly string[] =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : []));

const steps = (chat: PageChat): readonly unknown[] =>
  chat.messages.map((message) => [message.role === "user" ? message.role : message.id, ...textsOf(message)]);

const ended = [
  ["user", "Pay"],
  ["loop_1", "Not paid."],
  ["user", "Hello"],
  ["loop_2", "Hello."],
];

const payer = () =>
  agentOf([callsTools([{ name: "pay" }]), answers("Not paid."), answers("Hello.")], {
    tools: [toolOf("pay", () => "paid", { approval: "always" })],
  });

describe("a question of an older message that was decided elsewhere", () => {
  it("shows what became of it after the next message", async () => {
    await using scene = new HookScene(payer());
    const chat = await scene.open();
    await chat.sendMessage({ text: "Pay" });
    await scene.decide({ reject: "No." });
    await chat.sendMessage({ text: "Hello" });
    await scene.rests(chat);
    expect(callOf(chat)).toMatchObject({ state: "output-denied", approval: { reason: "No." } });
    expect(steps(chat)).toEqual(ended);
    const count = scene.requests.length;
    await chat.addToolApprovalResponse({ id: callOf(chat).approval?.id ?? "", approved: true });
    await scene.rests(chat);
    expect(scene.requests).toHaveLength(count);
    expect(callOf(chat).state).toBe("output-denied");
  });

  it("shows what became of it if it is answered while the next message is sent", async () => {
    await using scene = new HookScene(payer());
    const chat = await scene.open();
    await chat.sendMessage({ text: "Pay" });
    await scene.decide({ reject: "No." });
    await scene.send(chat, "Hello", async () => {
      await chat.addToolApprovalResponse({ id: callOf(chat).approval?.id ?? "", approved: true });
      expect(callOf(chat).state).toBe("approval-responded");
    });
    expect(callOf(chat).state).toBe("output-denied");
    expect(steps(chat)).toEqual(ended);
    expect(scene.posts).toBe(2);
  });

  it.each(["stopped", "failed"])(
    "shows what became of it if it is answered and the next message is %s",
    async (end) => {
      await using scene = new HookScene(payer());
      const chat = await scene.open();
      await chat.sendMessage({ text: "Pay" });
      await scene.decide({ reject: "No." });
      let stopped: Promise<void> | undefined;
      await scene.send(chat, "Hello", async () => {
        await chat.addToolApprovalResponse({ id: callOf(chat).approval?.id ?? "", approved: true });
        if (end === "stopped") stopped = chat.stop();
        else scene.isOffline = true;
      });
      await stopped;
      if (end === "failed") {
        // Nor could the chat be read. The next message succeeds.
        scene.isOffline = false;
        await chat.sendMessage({ text: "Again" });
        await scene.rests(chat);
      }
      expect(callOf(chat).state).toBe("output-denied");
    },
  );

  it("shows what became of it after an answer, if it could not be read before", async () => {
    await using scene = new HookScene(payer());
    const chat = await scene.open();
    await chat.sendMessage({ text: "Pay" });
    await scene.decide({ reject: "No." });
    const { fetch: online } = globalThis;
    vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
      if (init?.method === "POST") return await online(path, init);
      throw new TypeError("Failed to fetch");
    });
    await chat.sendMessage({ text: "Hello" });
    await scene.rests(chat);
    expect(callOf(chat).state).toBe("approval-requested");
    vi.stubGlobal("fetch", online);
    await chat.addToolApprovalResponse({ id: callOf(chat).approval?.id ?? "", approved: true });
    await scene.rests(chat);
    expect(callOf(chat).state).toBe("output-denied");
    expect(steps(chat)).toEqual(ended);
  });

  it("shows what became of it if it asked a human, and was answered by an output", async () => {
    const ask = callsTools([{ name: "ask", arguments: { question: "Which?" } }]);
    const agent = agentOf([ask, answers("Not paid."), answers("Hello.")], {
      tools: [askHuman({ name: "ask" })],
    });
    await using scene = new HookScene(agent);
    const chat = await scene.open();
    await chat.sendMessage({ text: "Pay" });
    await scene.decide({ reject: "No." });
    await scene.send(chat, "Hello", async () => {
      await chat.addToolOutput({ tool: "ask" as never, toolCallId: callOf(chat).toolCallId, output: "red" });
    });
    expect(callOf(chat).state).toBe("output-denied");
    expect(steps(chat)).toEqual(ended);
  });
});

describe("a question of the newest message", () => {
  it("stays open behind a message that waits for it, and can be answered", async () => {
    await using scene = new HookScene(payer());
    const chat = await scene.open();
    await chat.sendMessage({ text: "Pay" });
    await chat.sendMessage({ text: "Hurry" });
    await scene.rests(chat);
    expect(callOf(chat).state).toBe("approval-requested");
    await chat.addToolApprovalResponse({ id: callOf(chat).approval?.id ?? "", approved: true });
    await untilPasses(() => expect(callOf(chat).state).toBe("output-available"));
    await scene.rests(chat);
    expect(scene.posts).toBe(3);
  });
});
