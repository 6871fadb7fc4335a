import { join } from "node:path";
import { defineAgent, defineTool } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, hangs, MockLlmCaller } from "@moora/llm/testing";
import { TestBrowser } from "@moora/testbed/browser";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAgentServer } from "../src/index.ts";
import { serve, type ServedAgents } from "../src/node.ts";

const paid: unknown[] = [];
const pay = defineTool({
  name: "pay",
  description: "Pays.",
  input: { type: "object" },
  approval: "always",
  execute: (input) => (paid.push(input), "paid"),
});

/** Pays, or begins a song that does not end. */
const llm = () =>
  new MockLlmCaller(({ messages }) => {
    const text = JSON.stringify(messages.at(-1));
    if (text.includes("Sing")) return hangs("Once upon a time");
    return text.includes("Pay")
      ? callsTools([{ name: "pay", arguments: { cents: 5 } }])
      : answers("It is paid.");
  });

let browser: TestBrowser;
let served: ServedAgents;

beforeEach(async () => {
  paid.length = 0;
  browser = await TestBrowser.start({ scripts: { page: join(import.meta.dirname, "page.ts") } });
  const server = createAgentServer({
    agents: [defineAgent({ name: "helper", llm: llm(), tools: [pay] })],
    log: memoryLog(),
    allowedOrigins: [new URL(browser.url).origin],
  });
  served = await serve(server, { port: 0 });
});

afterEach(async () => {
  await browser[Symbol.asyncDispose]();
  await served.close();
});

/** Opens the page, and shows the chat. */
async function chat(): Promise<Page> {
  const page = await browser.open();
  await show(page);
  return page;
}

const show = (page: Page): Promise<void> =>
  page.evaluate((api) => showChat(api), `${served.url}/agents/helper/chat`);

const click = (page: Page, name: string): Promise<void> => page.getByRole("button", { name }).click();

/** Waits until the page can send the next message. */
async function ready(page: Page): Promise<void> {
  await page.locator("output", { hasText: /^(?!submitted|streaming)/ }).waitFor();
  expect(await page.locator("output").textContent()).toBe("ready");
}

describe("a page with useChat", () => {
  it("asks for an approval, and shows what follows in the same message", async () => {
    const page = await chat();
    await ready(page);
    await click(page, "Pay");
    await click(page, 'Approve {"cents":5}');
    await page.getByText("It is paid.").waitFor();
    await ready(page);
    expect(await page.locator("p").allTextContents()).toEqual(["Pay", "output-available", "It is paid."]);
    expect(paid).toEqual([{ cents: 5 }]);
  });

  it("resumes an approval and an answer after it was loaded again", async () => {
    const page = await chat();
    await ready(page);
    await click(page, "Pay");
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await page.reload();
    await show(page);
    await click(page, 'Approve {"cents":5}');
    await page.getByText("It is paid.").waitFor();
    await ready(page);
    expect(paid).toHaveLength(1);
    await click(page, "Sing");
    await page.getByText("Once upon a time").waitFor();
    await page.reload();
    await show(page);
    await page.getByText("Once upon a time").waitFor();
    const { sessions } = (await (await fetch(`${served.url}/sessions`)).json()) as {
      sessions: readonly { id: string }[];
    };
    await fetch(`${served.url}/sessions/${sessions[0]?.id}/cancel`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    await ready(page);
    expect(await page.locator("p").allTextContents()).toEqual(["Once upon a time"]);
  });
});
