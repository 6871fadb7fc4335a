import { join } from "node:path";
import { askHuman, defineAgent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import type { LlmOutcome } from "@moora/llm";
import { answers, callsTools, fails, hangs, MockLlmCaller } from "@moora/llm/testing";
import { TestBrowser } from "@moora/testbed/browser";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAgentServer } from "@moora/server";
import { serve, type ServedAgents } from "@moora/server/node";
import { add, paid, pay } from "@moora/testbed/server/paying-tools";

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
    if (text.includes("Ask")) return callsTools([{ name: "ask", arguments: { question: "Which?" } }]);
    if (JSON.stringify(messages).includes('"red')) return answers("You like red.");
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
  browser = await TestBrowser.start({ scripts: { page: join(import.meta.dirname, "agent-chat.ts") } });
});

beforeEach(async () => {
  paid.length = 0;
  const server = createAgentServer({
    agents: [defineAgent({ name: "helper", llm: llm(), tools: [pay, add, askHuman({ name: "ask" })] })],
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

const show = (page: Page): Promise<void> => page.evaluate((url) => showChat(url), served.url);

const click = (page: Page, name: string): Promise<void> => page.getByRole("button", { name }).click();

/** Counts what a page posts from now on. */
function countPosts(page: Page): () => number {
  let posts = 0;
  page.on("request", (request) => void (posts += request.method() === "POST" ? 1 : 0));
  return () => posts;
}

/** Decides the open question elsewhere, and waits for the end of its loop. */
async function decide(decision: object): Promise<void> {
  // The bodies as the test reads them.
  // oxlint-disable-next-line typescript/no-explicit-any
  const read = async (path: string, body?: object): Promise<any> =>
    await (
      await fetch(`${served.url}${path}`, {
        headers: { "content-type": "application/json" },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      })
    ).json();
  const { session } = await read("/agents/helper/chat/chat-1");
  const [{ toolCallId, digest }] = (await read(`/sessions/${session}`)).questions;
  await read(`/sessions/${session}/decisions`, { toolCallId, digest, decision });
  await expect
    .poll(async () => (await read(`/sessions/${session}`)).state.reActContext.control.type)
    .toBe("Done");
}

/** Waits until the page can send the next message. */
async function ready(page: Page): Promise<void> {
  await page.locator("output", { hasText: /^(?!submitted|streaming)/ }).waitFor();
  expect(await page.locator("output").textContent()).toBe("ready");
}

describe("a page with useAgentChat", () => {
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
    expect(await page.locator("p").allTextContents()).toEqual([
      "Pay",
      'output-available "paid"',
      "It is paid.",
      "Sing",
      "Once upon a time",
    ]);
    const shown = await page.locator("main").innerHTML();
    await page.reload();
    await show(page);
    await ready(page);
    expect(await page.locator("main").innerHTML()).toBe(shown);
  });

  it("shows the same after it was loaded again, in the middle of a conversation and with an open approval", async () => {
    const page = await chat();
    await ready(page);
    for (const [name, answer] of [
      ["Add", "Four and six."],
      ["Look", "I have drawn it."],
    ] as const) {
      await click(page, name);
      await page.getByText(answer).waitFor();
      await ready(page);
    }
    await click(page, "Pay");
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await ready(page);
    const textsOf = async (): Promise<string> =>
      (await page.locator("main").innerHTML()).replaceAll(/src="[^"]*"/g, "");
    const shown = await textsOf();
    await page.reload();
    await show(page);
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await ready(page);
    expect(await textsOf()).toBe(shown);
    await click(page, 'Approve {"cents":5}');
    await page.getByText("It is paid.").waitFor();
    await ready(page);
    expect(paid).toHaveLength(1);
  });

  it.each(["Approve", "Reject"])("shows what was decided elsewhere, and rests: %s", async (name) => {
    const page = await chat();
    const posts = countPosts(page);
    await ready(page);
    await click(page, "Pay");
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await ready(page);
    await decide({ reject: "Too much." });
    await click(page, `${name} {"cents":5}`);
    await page.getByText("It is not paid.").waitFor();
    await ready(page);
    expect(await page.locator("p").allTextContents()).toEqual(["Pay", "output-denied", "It is not paid."]);
    expect(paid).toEqual([]);
    await click(page, "Add");
    await page.getByText("Four and six.").waitFor();
    await ready(page);
    expect(posts()).toBe(3);
  });

  it("shows what was decided elsewhere about a question before its last message", async () => {
    const page = await chat();
    const posts = countPosts(page);
    await ready(page);
    await click(page, "Pay");
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await ready(page);
    await decide({ reject: "Too much." });
    await click(page, "Add");
    await page.getByText("Four and six.").waitFor();
    await page.getByText("It is not paid.").waitFor();
    await ready(page);
    expect((await page.locator("p").allTextContents()).slice(0, 4)).toEqual([
      "Pay",
      "output-denied",
      "It is not paid.",
      "Add",
    ]);
    expect(posts()).toBe(2);
  });

  it("sends the answer to a question, also after a message that waited for it", async () => {
    const page = await chat();
    const posts = countPosts(page);
    await ready(page);
    await click(page, "Ask");
    await page.getByRole("button", { name: "Answer Which?" }).waitFor();
    await ready(page);
    await click(page, "Sing");
    await expect.poll(posts).toBe(2);
    await ready(page);
    await click(page, "Answer Which?");
    await page.getByText("You like red.").waitFor();
    await ready(page);
    expect(await page.locator("p").allTextContents()).toEqual([
      "Ask",
      'output-available "red"',
      "You like red.",
      "Sing",
    ]);
    expect(posts()).toBe(3);
  });
});
