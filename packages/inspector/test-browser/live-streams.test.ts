import { defineAgent } from "@moora/agent";
import type { LlmCaller } from "@moora/llm";
import { answers } from "@moora/llm/testing";
import { launchChromium } from "@moora/testbed/chromium";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSession, servedAgent, talkIn } from "./served-agent.ts";

/** A model that writes what a test gives it. */
class HandWriter implements LlmCaller {
  readonly name = "hand";
  readonly #begun = Promise.withResolvers<(text: string) => void>();

  async call(...[, { onChunk, signal } = {}]: Parameters<LlmCaller["call"]>): ReturnType<LlmCaller["call"]> {
    this.#begun.resolve((text) => onChunk?.({ type: "text", text }));
    await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    return answers("");
  }

  async write(text: string): Promise<void> {
    (await this.#begun.promise)(text);
  }
}

describe("the inspector of a server that ends its streams after a while", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  it("continues at once, and shows all text that is streamed", async () => {
    const model = new HandWriter();
    const agent = defineAgent({ name: "support", llm: model });
    await using served = await servedAgent(agent, { limits: { streamLifetimeMs: 1_500 } });
    const page = await browser.newPage();
    await talkIn(page, served.url, "Hi");
    await page.evaluate(() => {
      const shown: string[] = [];
      Object.assign(globalThis, { shown });
      new MutationObserver(() => shown.push(document.body.innerText)).observe(document.body, {
        subtree: true,
        childList: true,
        characterData: true,
      });
    });
    let text = "";
    for (const word of ["One", " two", " three", " four"]) {
      text += word;
      await model.write(word);
      await page.getByRole("log").getByText(text).waitFor();
      expect(await page.locator(".moora-assistant").allTextContents()).toEqual([`Agent${text}`]);
      await page.waitForResponse((response) => response.url().includes("/events"));
    }
    const shown = await page.evaluate(() => (globalThis as unknown as { shown: string[] }).shown);
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter((body) => /\bconnecting\b/i.test(body))).toEqual([]);
    await page.close();
  });

  it("makes one fork where the answer to the first request was lost", async () => {
    const agent = defineAgent({ name: "support", llm: new HandWriter() });
    await using served = await servedAgent(agent);
    const id = await createSession(served.url);
    const page = await browser.newPage();
    const made: string[] = [];
    await page.route("**/fork", async (route) => {
      const response = await route.fetch();
      made.push(((await response.json()) as { id: string }).id);
      await (made.length === 1 ? route.abort() : route.fulfill({ response }));
    });
    await page.goto(`${served.url}/inspector/#session=${id}`);
    await page.getByText("live", { exact: true }).waitFor();
    const fork = page.getByRole("button", { name: "Fork from here" });
    await fork.click();
    await expect.poll(() => made.length, { timeout: 60_000 }).toBe(1);
    await page.locator("button[aria-disabled=false]", { hasText: "Fork from here" }).waitFor();
    await fork.click();
    await page.getByText(`This is a fork of ${id}`).waitFor();
    expect(made).toEqual([made[0], made[0]]);
    await page.close();
  });
});
