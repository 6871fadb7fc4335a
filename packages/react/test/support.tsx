import { defineAgent, defineData, defineTool, type Agent, type Tool } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { MockLlmCaller, type MockScript } from "@moora/llm/testing";
import type { LlmCaller } from "@moora/llm";
import { connectSession, type RemoteSession } from "@moora/client";
import { createAgentServer } from "@moora/server";
import { act, type JSX } from "react";
import { createRoot, type Root } from "react-dom/client";
import { z } from "zod";

export const list = defineData({ schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } });

const tools: readonly Tool[] = [
  defineTool({ name: "look", description: "Looks.", input: { type: "object" }, execute: () => "a tree" }),
  defineTool({
    name: "pay",
    description: "Pays.",
    input: { type: "object" },
    approval: "always",
    execute: () => "paid",
  }),
  defineTool({
    name: "work",
    description: "Works until it is aborted.",
    input: { type: "object" },
    async execute(_, { signal, progress }) {
      progress("Half of it.");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return "stopped";
    },
  }),
];

export const agentOf = (script: MockScript | LlmCaller, more: readonly Tool[] = []) =>
  defineAgent({
    name: "helper",
    llm: typeof script === "object" && "call" in script ? script : new MockLlmCaller(script),
    data: list,
    tools: [...tools, ...more],
  });

/** A session of a server in this process. It ends with the scope. */
export async function remoteSession(
  agent: Agent<string, { items: string[] }>,
): Promise<{ readonly session: RemoteSession<string, { items: string[] }> } & AsyncDisposable> {
  const server = createAgentServer({ agents: [agent], log: memoryLog() });
  const session = await connectSession<string, { items: string[] }>({
    url: "http://localhost",
    agent: "helper",
    fetch: (url, init) => Promise.resolve(server.fetch(new Request(url, init))),
    onError: () => undefined,
  });
  return {
    session,
    async [Symbol.asyncDispose]() {
      await session.close();
      await server.close();
    },
  };
}

/** Elements in a document. */
export class Screen implements AsyncDisposable {
  readonly container: HTMLElement = document.createElement("div");
  readonly #root: Root;

  constructor() {
    document.body.append(this.container);
    this.#root = createRoot(this.container);
  }

  static async of(element: JSX.Element): Promise<Screen> {
    const screen = new Screen();
    await screen.show(element);
    return screen;
  }

  async show(element: JSX.Element): Promise<void> {
    await act(async () => this.#root.render(element));
  }

  get text(): string {
    return this.container.textContent ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await act(async () => this.#root.unmount());
    this.container.remove();
  }
}
