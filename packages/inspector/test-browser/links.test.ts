import { answers, callsTools, type MockScript } from "@moora/llm/testing";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { pageForEach } from "./browser.ts";
import { sampleAgent } from "./sample-session.ts";
import { createSession, servedAgent, talkIn } from "./served-agent.ts";

const script: MockScript = [
  callsTools([{ name: "refund", arguments: { order: "7", euros: 12 } }]),
  answers("Refunded."),
];

describe("a link to another session", () => {
  let page: Page;
  pageForEach((opened) => void (page = opened));

  const heading = (text: string) => page.getByRole("heading", { level: 1 }).getByText(text).waitFor();
  const follow = (hash: string) => page.evaluate((to) => void (location.hash = to), hash);
  const addressOf = (id: string) => page.waitForFunction((to) => location.hash.includes(`session=${to}`), id);

  it("opens that session at its record and panel, and Back opens the one before, then the list", async () => {
    await using server = await servedAgent(sampleAgent(script, async () => "paid"));
    const [first, second] = [await createSession(server.url), await createSession(server.url)];
    await page.goto(`${server.url}/inspector/`);
    await page.getByRole("button", { name: first }).click();
    await heading(first);
    await addressOf(first);
    await follow(`#session=${second}&at=0&tab=state`);
    await heading(second);
    await page.locator(".panels[data-seq='0']").waitFor();
    await page.getByRole("tab", { name: "State", selected: true }).waitFor();
    await addressOf(second);
    await page.goBack();
    await heading(first);
    await addressOf(first);
    await page.goBack();
    await page.getByRole("button", { name: second }).waitFor();
    await page.goForward();
    await heading(first);
    expect(await page.evaluate(() => location.hash)).toContain(`session=${first}`);
  });

  it("shows nothing that the session before asks while the other one is loaded", async () => {
    await using server = await servedAgent(sampleAgent(script, async () => "paid"));
    const other = await createSession(server.url);
    await talkIn(page, server.url, "Refund it.");
    await page.getByText("Approve this call?").waitFor();
    const loaded = Promise.withResolvers<void>();
    await page.route(`**/${other}/export`, async (route) => {
      await loaded.promise;
      await route.continue();
    });
    await follow(`#session=${other}`);
    await page.getByText("Reading").waitFor();
    expect(await page.getByText("Approve this call?").count()).toBe(0);
    loaded.resolve();
    await heading(other);
    expect(await page.getByText("Approve this call?").count()).toBe(0);
  });
});
