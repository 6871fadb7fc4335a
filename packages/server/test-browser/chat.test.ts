import { join } from "node:path";
import { defineAgent, defineTool } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import type { LlmOutcome } from "@moora/llm";
import { answers, callsTools, fails, hangs, MockLlmCaller } from "@moora/llm/testing";
import { TestBrowser } from "@moora/testbed/browser";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
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

const add = defineTool({
  name: "add",
  description: "Adds.",
  input: { type: "object" },
  execute: ({ of }) => ({ doubled: 2 * Number(of) }),
});

/** The answer with a picture of the model. */
function drawn(): LlmOutcome {
  const outcome = answers("I have drawn it.");
  if (!outcome.ok) return outcome;
  const file = { mediaType: "image/gif", data: "R0lGODlhAQABAAAAACwAAAAAAQABAAA=" };
  return { ...outcome, turn: { ...outcome.turn, parts: [...outcome.turn.parts, { type: "file", file }] } };
}

/** Pays, adds in parallel, draws, fails, or begins a song that does not end. */
const llm = () =>
  new MockLlmCaller(({ messages }) => {
    const last = messages.at(-1);
    const text = JSON.stringify(last);
    if (text.includes("Sing")) return hangs("Once upon a time");
    if (text.includes("Break")) return fails("auth", { message: "The key is wrong." });
    if (text.includes("Look")) return drawn();
    if (last?.role === "user" && text.includes("Add")) {
      const calls = [2, 3].map((of) => ({ name: "add", arguments: { of } }));
      return callsTools(calls, { reasoning: "I add.", text: "Let me see." });
    }
    if (last?.role === "assistant" && text.includes("doubled")) return answers("Four and six.");
    return last?.role === "user" && text.includes("Pay")
      ? callsTools([{ name: "pay", arguments: { cents: 5 } }])
      : answers(text.includes("reject") ? "It is not paid." : "It is paid.");
  });

const pages: Page[] = [];
let browser: TestBrowser;
let served: ServedAgents;

beforeAll(async () => {
  browser = await TestBrowser.start({ scripts: { page: join(import.meta.dirname, "page.ts") } });
});

beforeEach(async () => {
  paid.length = 0;
  const server = createAgentServer({
    agents: [defineAgent({ name: "helper", llm: llm(), tools: [pay, add] })],
    log: memoryLog(),
    allowedOrigins: [new URL(browser.url).origin],
  });
  served = await serve(server, { port: 0 });
});

afterEach(async () => {
  for (const page of pages.splice(0)) await page.close();
  await served.close();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
});

/** Opens the page, and shows the chat. */
async function chat(): Promise<Page> {
  const page = await browser.open();
  pages.push(page);
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
    expect(await page.locator("p").allTextContents()).toEqual([
      "Pay",
      'output-available "paid"',
      "It is paid.",
    ]);
    expect(paid).toEqual([{ cents: 5 }]);
  });

  it("shows text, reasoning and parallel tools, and continues the conversation", async () => {
    const page = await chat();
    await ready(page);
    await click(page, "Add");
    await page.getByText("Four and six.").waitFor();
    await ready(page);
    expect(await page.locator("p").allTextContents()).toEqual([
      "Add",
      "I add.",
      "Let me see.",
      'output-available {"doubled":4}',
      'output-available {"doubled":6}',
      "Four and six.",
    ]);
    expect(await page.locator("p.reasoning").textContent()).toBe("I add.");
    await click(page, "Pay");
    await page.getByRole("button", { name: "Approve" }).waitFor();
  });

  it("rejects a call", async () => {
    const page = await chat();
    await ready(page);
    await click(page, "Pay");
    await click(page, 'Reject {"cents":5}');
    await page.getByText("It is not paid.").waitFor();
    await ready(page);
    expect(await page.locator("p.tool").allTextContents()).toEqual(["output-denied"]);
    expect(paid).toEqual([]);
  });

  it("sends a file, and shows the file of the model", async () => {
    const page = await chat();
    await ready(page);
    await click(page, "Look");
    await page.getByText("I have drawn it.").waitFor();
    await ready(page);
    for (const role of ["user", "assistant"]) {
      const picture = page.getByAltText(role);
      await picture.waitFor({ state: "attached" });
      await expect
        .poll(() => picture.evaluate((image) => "naturalWidth" in image && image.naturalWidth))
        .toBe(1);
    }
  });

  it("shows an error, and continues after it", async () => {
    const page = await chat();
    await ready(page);
    await click(page, "Break");
    await page.locator("output", { hasText: "The key is wrong." }).waitFor();
    await click(page, "Add");
    await page.getByText("Four and six.").waitFor();
    await ready(page);
    expect(await page.locator("p").last().textContent()).toBe("Four and six.");
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
