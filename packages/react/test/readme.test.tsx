// @vitest-environment happy-dom
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent, defineTool, startSession, toolAsks } from "@moora/agent";
import type { RemoteSession } from "@moora/client";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { Page } from "@moora/testbed/page";
import { untilPasses } from "@moora/testbed/test-clock";
import { act, createElement, type JSX } from "react";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { App as ComponentsApp } from "../../../examples/react-chat.tsx";
import { App } from "../../../examples/react-hooks.tsx";
import type { ChatConnection, ChatSession } from "../src/index.ts";
import { agentOf, remoteSession, Screen } from "./support.tsx";

let folder: string;

beforeAll(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  folder = mkdtempSync(join(import.meta.dirname, ".fences-"));
  const page = new Page("packages/react/README.md");
  writeFileSync(join(folder, "app.tsx"), page.block("tsx"));
  writeFileSync(join(folder, "types.tsx"), page.block("tsx types"));
  writeFileSync(join(folder, "connect.tsx"), page.block("tsx connect"));
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../../tsconfig.json",
      files: ["app.tsx", "types.tsx", "connect.tsx"],
      include: [],
    }),
  );
});

afterAll(() => {
  rmSync(folder, { recursive: true });
  vi.unstubAllGlobals();
});

const click = (screen: Screen, title: string) =>
  act(async () => {
    const buttons = [...screen.container.querySelectorAll("button")];
    buttons.find(({ textContent }) => textContent === title)?.click();
  });

const shows = (screen: Screen, text: string) =>
  act(() => untilPasses(() => expect(screen.text).toContain(text)));

describe("the README", () => {
  it("begins with a chat", async () => {
    const { App: Shown }: { readonly App: () => JSX.Element } = await import(
      /* @vite-ignore */ join(folder, "app.tsx")
    );
    await using screen = await Screen.of(createElement(Shown));
    await click(screen, "What is the weather in Oslo?");
    await shows(screen, "According to weather");
    expect(screen.container.querySelector(".moora-call.moora-done")?.textContent).toContain("Oslo");
  });

  it("has programs that compile", () => {
    const tsc = join(import.meta.dirname, "../../../node_modules/.bin/tsc");
    const { stdout, status } = spawnSync(tsc, ["-p", folder, "--noEmit"], { encoding: "utf8" });
    expect(status, stdout).toBe(0);
  });
});

describe("the example of the components", () => {
  it("begins a chat of a server, and says why it could not", async () => {
    await using remote = await remoteSession(agentOf([answers("It is 4.")]));
    const connect = vi.fn(() => Promise.reject<RemoteSession>(new Error("The server is away.")));
    await using screen = await Screen.of(createElement(ComponentsApp, { connect }));
    await click(screen, "New chat");
    await shows(screen, "The server is away.");
    // The example does not name the data of the agent.
    connect.mockResolvedValue(remote.session as unknown as RemoteSession);
    await click(screen, "New chat");
    await click(screen, "What is 2 + 2?");
    await shows(screen, "It is 4.");
    expect(connect).toHaveBeenCalledTimes(2);
  });
});

describe("the example of the hooks", () => {
  it("shows a chat, and takes an approval", async () => {
    const session = startSession(agentOf([callsTools([{ name: "pay" }]), answers("It is paid.")]));
    await using screen = await Screen.of(createElement(App, { session }));
    await act(async () => void (await session.send("Pay")));
    await shows(screen, "approval of pay");
    await click(screen, "Approve");
    await shows(screen, "It is paid.");
    expect(screen.text).toContain("idle");
  });

  it("shows the session of an agent without data, and a message that has not reached the server", async () => {
    const session = startSession(defineAgent({ llm: new MockLlmCaller([]) }));
    const post = { key: "k", kind: "messages", content: "Hello", isConfirmed: false };
    const connection: ChatConnection = { status: "waiting", pending: [post] };
    await using screen = await Screen.of(
      createElement(App<unknown>, { session: { ...session, connection: () => connection } }),
    );
    await shows(screen, "Hello (being sent)");
    expect(screen.text).toContain("idle");
  });

  it("asks what a tool asks, and does not offer to approve that", async () => {
    const replies: unknown[] = [];
    const session = startSession(
      agentOf(
        [callsTools([{ name: "seat" }]), answers("Booked.")],
        [
          defineTool({
            name: "seat",
            description: "Books a seat.",
            input: { type: "object" },
            execute: (_, { asked }) => {
              if (asked === undefined) return toolAsks({ question: "Which seat?" });
              replies.push(asked.reply);
              return "booked";
            },
          }),
        ],
      ),
    );
    await using screen = await Screen.of(createElement(App, { session }));
    await act(async () => void (await session.send("Book")));
    await shows(screen, "Which seat?");
    expect(screen.text).not.toContain("Approve");
    await act(async () => {
      const field = screen.container.querySelector<HTMLInputElement>('input[name="answer"]');
      if (field !== null) field.value = "12A";
    });
    await click(screen, "Answer");
    await shows(screen, "Booked.");
    expect(replies).toMatchObject([{ type: "answered", answer: "12A" }]);
  });

  it("shows why a decision was not accepted", async () => {
    const session = startSession(agentOf([callsTools([{ name: "pay" }]), answers("It is paid.")]));
    const decide: ChatSession["decide"] = async () => ({ status: "ignored", reason: "digest-mismatch" });
    await using screen = await Screen.of(createElement(App, { session: { ...session, decide } }));
    await act(async () => void (await session.send("Pay")));
    await shows(screen, "approval of pay");
    await click(screen, "Approve");
    await shows(screen, "Not accepted: digest-mismatch");
    expect(screen.text).toContain("approval of pay");
  });

  it("stays, with the reason and the text, when a message is refused", async () => {
    await using remote = await remoteSession(agentOf([answers("Hello.")]));
    await using screen = await Screen.of(createElement(App, { session: remote.session }));
    const field = (): HTMLInputElement | null => screen.container.querySelector('input[name="message"]');
    const type = async (text: string): Promise<void> => {
      await act(async () => {
        const element = field();
        if (element !== null) element.value = text;
      });
      await click(screen, "Send");
    };
    await type("much ".repeat(250_000));
    await shows(screen, "The body must have at most");
    expect(field()?.value.length).toBe(1_250_000);
    await type("Hello");
    await shows(screen, "Hello.");
    expect(screen.container.querySelector('[role="alert"]')).toBeNull();
    expect(field()?.value).toBe("");
  });

  it("stays, with the reason, when the session is closed", async () => {
    const session = startSession(agentOf([]));
    await using screen = await Screen.of(createElement(App, { session }));
    await session.close();
    await click(screen, "Send");
    await shows(screen, "The session was closed.");
    expect(screen.text).toContain("idle");
  });
});
