import { join } from "node:path";
import { defineAgent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import type { LlmCaller } from "@moora/llm";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { TestBrowser } from "@moora/testbed/browser";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAgentServer } from "../src/index.ts";
import { serve, type ServedAgents } from "../src/node.ts";
import { HandModel } from "@moora/testbed/server/hand-model";
import { add, paid, pay } from "@moora/testbed/server/paying-tools";

const picture = { mediaType: "image/gif", data: "R0lGODlhAQABAAAAACwAAAAAAQABAAA=" };

/** Adds, pays and draws. */
const scripted = new MockLlmCaller(({ messages }) => {
  const last = messages.at(-1);
  const text = JSON.stringify(last);
  if (last?.role === "assistant") {
    if (text.includes("doubled")) return answers("It is four.");
    return answers(text.includes("reject") ? "It is not paid." : "It is paid.");
  }
  if (text.includes("Look")) return answers("I have drawn it.", { files: [picture] });
  if (text.includes("Add"))
    return callsTools([{ name: "add", arguments: { of: 2 } }], { reasoning: "I add.", text: "Let me see." });
  return callsTools([{ name: "pay", arguments: { cents: 5 } }]);
});

let browser: TestBrowser;
let served: ServedAgents;
/** Writes what follows "Sing". */
let singer: HandModel;
let page: Page;

beforeAll(async () => {
  browser = await TestBrowser.start({ scripts: { page: join(import.meta.dirname, "plain-chat.ts") } });
});

beforeEach(async () => {
  paid.length = 0;
  singer = new HandModel();
  const llm: LlmCaller = {
    name: "helper",
    call: (request, options) =>
      JSON.stringify(request.messages.at(-1)).includes("Sing")
        ? singer.call(request, options)
        : scripted.call(request, options),
  };
  const server = createAgentServer({
    agents: [defineAgent({ name: "helper", llm, tools: [pay, add] })],
    log: memoryLog(),
    allowedOrigins: [new URL(browser.url).origin],
  });
  served = await serve(server, { port: 0 });
  page = await browser.open();
  await show();
});

afterEach(async () => {
  await page.close();
  await served.close();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
});

async function show(): Promise<void> {
  await page.evaluate((url) => showChat(url), served.url);
  await page.locator("output").waitFor();
}

const click = (name: string): Promise<void> => page.getByRole("button", { name }).click();

/** Waits until the page can send the next message. */
async function ready(): Promise<void> {
  await page.locator("output", { hasText: /^(?!submitted|streaming)/ }).waitFor();
  expect(await page.locator("output").textContent()).toBe("ready");
}

const texts = (): Promise<string[]> => page.locator("p").allTextContents();

describe("a page with useChat and its default transport", () => {
  it("shows text, reasoning, and a tool with its arguments and its result", async () => {
    await click("Add");
    await page.getByText("It is four.").waitFor();
    await ready();
    expect(await texts()).toEqual([
      "Add",
      "I add.",
      "Let me see.",
      'output-available {"doubled":4}',
      "It is four.",
    ]);
    expect(await page.locator("p.reasoning").allTextContents()).toEqual(["I add."]);
    expect(await page.locator("p.tool").getAttribute("title")).toBe('{"of":2}');
  });

  it("approves a call, and rejects the next one of the conversation", async () => {
    await click("Pay");
    await click('Approve {"cents":5}');
    await page.getByText("It is paid.").waitFor();
    await ready();
    await click("Pay");
    await click('Reject {"cents":5}');
    await page.getByText("It is not paid.").waitFor();
    await ready();
    expect(await texts()).toEqual([
      "Pay",
      'output-available "paid"',
      "It is paid.",
      "Pay",
      "output-denied",
      "It is not paid.",
    ]);
    expect(paid).toEqual([{ cents: 5 }]);
  });

  it("continues the answer that is being written after it was loaded again", async () => {
    await click("Sing");
    const song = await singer.attempt(1);
    song.reason("A song.");
    song.write("Once ");
    await page.getByText("Once", { exact: true }).waitFor();
    await page.reload();
    await show();
    await page.getByText("Once", { exact: true }).waitFor();
    song.write("upon a time.");
    await page.getByText("Once upon a time.").waitFor();
    expect(await page.locator("output").textContent()).toBe("streaming");
    song.end();
    await ready();
    expect(await texts()).toEqual(["Sing", "A song.", "Once upon a time."]);
  });
});
