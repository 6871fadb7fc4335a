import { defineAgent, defineData, defineTool, type Agent } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { axePage, barriersIn, viewings } from "@moora/testbed/axe";
import { launchChromium } from "@moora/testbed/chromium";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { watch } from "./browser.ts";
import { createSession, servedAgent } from "./served-agent.ts";

const markdown = "It is **paid**, see [it](https://x.test).\n\n- <img src=x onerror=alert(1)>\n";
const data = defineData({ schema: z.object({ title: z.string() }), initial: { title: "" } });

/** An agent that pays after an approval, and writes Markdown. */
const payer = (name = "support"): Agent<unknown> =>
  defineAgent({
    name,
    data,
    llm: new MockLlmCaller([callsTools([{ name: "pay", arguments: { euros: 12 } }]), answers(markdown)]),
    tools: [
      defineTool({
        name: "pay",
        description: "Pays.",
        input: { type: "object" },
        approval: "always",
        execute: () => "paid",
      }),
    ],
  });

const button = (page: Page, name: string): Locator => page.getByRole("button", { name, exact: true });

describe("the start page of a server", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  it("begins a chat with a first question, which is approved, answered, inspected, named and found again", async () => {
    await using server = await servedAgent(payer(), { agents: [payer("research"), payer()] });
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    const watched = watch(page);
    await page.goto(`${server.url}/inspector/`);
    await page.getByText("There is no session yet.").waitFor();
    await button(page, "support").click();
    await button(page, "What can you do?").click();
    await page.getByText("Approve this call?").waitFor();
    expect(await page.locator(".moora-questions pre").textContent()).toBe('{\n  "euros": 12\n}');
    await expect.poll(() => button(page, "Approve").getAttribute("aria-disabled")).toBe("false");
    await button(page, "Approve").click();
    const log = page.getByRole("log");
    await log.locator("strong", { hasText: "paid" }).waitFor();
    expect(await log.getByText("<img src=x onerror=alert(1)>").count()).toBe(1);
    expect(await log.locator("a, img").count()).toBe(0);
    await button(page, "Inspect").click();
    await page.getByRole("listbox").first().waitFor();
    // The address follows the page a moment later.
    await expect.poll(() => new URL(page.url()).hash).not.toContain("chat");
    await page.goBack();
    await log.waitFor();
    page.on("dialog", (dialog) => void dialog.accept("The payment"));
    await button(page, "Rename").click();
    await page.locator("nav b", { hasText: "The payment" }).waitFor();
    await createSession(server.url, {}, "research");
    await button(page, "New session").click();
    await page.locator("main.start li b").nth(1).waitFor();
    await page.getByRole("searchbox", { name: "Search sessions" }).fill("payment done");
    await expect.poll(() => page.locator("main.start li b").allTextContents()).toEqual(["The payment"]);
    await page.getByRole("button", { name: /^The payment/ }).click();
    await log.locator("strong", { hasText: "paid" }).waitFor();
    expect(watched.problems).toEqual([]);
    await page.close();
  });

  it("loads the list again when the state of the chat changes, not for each record, and one load at a time", async () => {
    await using server = await servedAgent(payer());
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    const id = await createSession(server.url);
    const post = async (kind: string, body: object): Promise<void> => {
      const headers = { "content-type": "application/json" };
      const address = `${server.url}/sessions/${id}/${kind}`;
      const { status } = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
      expect(status).toBe(200);
    };
    let loads = 0;
    let open = 0;
    let mostOpen = 0;
    let held: Promise<void> | undefined;
    await page.route("**/sessions?*", async (route) => {
      loads += 1;
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      await held;
      open -= 1;
      await route.continue();
    });
    await page.goto(`${server.url}/inspector/`);
    await page.locator("nav, main.start li").getByRole("button", { name: id }).click();
    const shown = page.locator("main.chat-screen");
    await shown.waitFor();
    await expect.poll(() => [loads, open]).toEqual([2, 0]);
    const seq = async (): Promise<number> => Number(await shown.getAttribute("data-seq"));
    const before = await seq();
    for (let count = 1; count <= 5; count += 1) {
      await post("data", { patches: [{ op: "replace", path: "/title", value: `Title ${count}` }] });
      await expect.poll(seq).toBe(before + count);
    }
    expect(loads).toBe(2);
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    await post("messages", { content: "Pay." });
    await expect.poll(() => open).toBe(1);
    await expect.poll(() => button(page, "Approve").getAttribute("aria-disabled")).toBe("false");
    await button(page, "Approve").click();
    await page.getByRole("log").locator("strong", { hasText: "paid" }).waitFor();
    resolve();
    await page.locator("nav .pill", { hasText: "Done" }).waitFor();
    expect(mostOpen).toBe(1);
    expect(loads).toBe(4);
    await page.close();
  });

  it("creates one session for a message that was refused at first, and keeps the message", async () => {
    await using server = await servedAgent(payer());
    const page = await browser.newPage();
    let refusals = 1;
    await page.route("**/messages*", async (route) => {
      refusals -= 1;
      await (refusals === 0
        ? route.fulfill({ status: 503, json: { detail: "It is full." } })
        : route.continue());
    });
    await page.goto(`${server.url}/inspector/`);
    const message = page.getByRole("textbox", { name: "Message" });
    await message.fill("Pay.");
    await message.press("Enter");
    await page.getByRole("alert").getByText("It is full.").waitFor();
    expect(await message.inputValue()).toBe("Pay.");
    await message.press("Enter");
    await page.getByText("Approve this call?").waitFor();
    const { sessions } = (await (await fetch(`${server.url}/sessions`)).json()) as { sessions: unknown[] };
    expect(sessions).toHaveLength(1);
    await page.close();
  });

  it.each(viewings)(
    "axe finds no barrier in it and in a chat: $colorScheme, $width pixels",
    async (viewing) => {
      await using server = await servedAgent(payer());
      const page = await axePage(browser, viewing);
      await page.goto(`${server.url}/inspector/`);
      await page.getByRole("button", { name: "What can you do?" }).waitFor();
      expect(await barriersIn(page)).toEqual([]);
      await page.getByRole("button", { name: "What can you do?" }).click();
      const approve = page.getByRole("button", { name: "Approve", exact: true });
      await expect.poll(() => approve.getAttribute("aria-disabled")).toBe("false");
      expect(await barriersIn(page)).toEqual([]);
      await approve.click();
      await page.getByRole("log").locator("strong").waitFor();
      expect(await barriersIn(page)).toEqual([]);
      const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement);
      expect(scrollWidth).toBe(clientWidth);
      await page.close();
    },
  );
});
