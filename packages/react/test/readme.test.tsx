// @vitest-environment happy-dom
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startSession } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { Page } from "@moora/testbed/page";
import { untilPasses } from "@moora/testbed/test-clock";
import { act, createElement, type JSX } from "react";
import { expect, it, vi } from "vitest";
import type { ChatSession } from "../src/index.ts";
import { agentOf, Screen } from "./support.tsx";

interface Program {
  readonly App: (props: { readonly session: ChatSession<{ items: string[] }> }) => JSX.Element;
}

it("the program of the README shows a chat", async () => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  const folder = mkdtempSync(join(import.meta.dirname, ".fences-"));
  try {
    const file = join(folder, "app.tsx");
    writeFileSync(file, new Page("packages/react/README.md").block("tsx"));
    // The module exports what the README says.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { App } = (await import(/* @vite-ignore */ file)) as Program;
    const session = startSession(agentOf([callsTools([{ name: "pay" }]), answers("It is paid.")]));
    await using screen = await Screen.of(createElement(App, { session }));
    await act(async () => void (await session.send("Pay")));
    await act(() => untilPasses(() => expect(screen.text).toContain("Approve pay")));
    await act(async () => screen.container.querySelector("button")?.click());
    await act(() => untilPasses(() => expect(screen.text).toContain("It is paid.")));
    expect(screen.text).toContain("idle, 0 items");
  } finally {
    rmSync(folder, { recursive: true });
    vi.unstubAllGlobals();
  }
});
