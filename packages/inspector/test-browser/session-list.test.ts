import { launchChromium } from "@moora/testbed/chromium";
import { answers } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { watch } from "./browser.ts";
import { sampleAgent } from "./sample-session.ts";
import { createSession, servedAgent } from "./served-agent.ts";

const hour = 3_600_000;

describe("the list of sessions of a server", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  it("has those first that have changed last, with how long ago that was", async () => {
    const clock = new TestClock();
    const agent = sampleAgent(
      () => answers("Hello."),
      async () => "paid",
    );
    await using server = await servedAgent(agent, { clock });
    const { url } = server;
    const [first, second] = [await createSession(url), await createSession(url)];
    await clock.advanceAsync(2 * hour);
    const third = await createSession(url);
    await clock.advanceAsync(hour);
    await fetch(`${url}/sessions/${first}/pause`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    const changedAt = clock.now();
    const page = await browser.newPage();
    const watched = watch(page);
    await page.clock.setFixedTime(changedAt + 5 * 60_000);
    await page.goto(`${url}/inspector`);
    await page.locator(".sessions li").nth(2).waitFor();
    expect(await page.locator(".sessions li b").allTextContents()).toEqual([first, third, second]);
    expect(await page.locator(".sessions li time").allTextContents()).toEqual([
      "5 minutes ago",
      "1 hour ago",
      "3 hours ago",
    ]);
    const exact = new Date(changedAt).toISOString().replace("T", " ");
    expect(await page.locator(".sessions li time").first().getAttribute("title")).toBe(exact);
    expect(watched.problems).toEqual([]);
    await page.close();
  });

  it("has sessions of every page of the server", async () => {
    await using server = await servedAgent(sampleAgent([], async () => "paid"));
    const { url } = server;
    const ids: string[] = [];
    for (let count = 0; count < 201; count += 1) ids.push(await createSession(url));
    const page = await browser.newPage();
    await page.goto(`${url}/inspector`);
    await page.locator(".sessions li").nth(200).waitFor();
    expect((await page.locator(".sessions li b").allTextContents()).toSorted()).toEqual(ids.toSorted());
    await page.close();
  });

  it("has no times of a server that does not say them", async () => {
    await using server = await servedAgent(sampleAgent([], async () => "paid"));
    const { url } = server;
    const page = await browser.newPage();
    await page.route("**/sessions?*", async (route) => {
      const sessions = [{ id: "s_1", agent: "support", seq: 7 }];
      await route.fulfill({ json: { sessions, next: null } });
    });
    await page.goto(`${url}/inspector`);
    await page.getByRole("button", { name: "s_1 support 7 records" }).waitFor();
    expect(await page.locator(".sessions li time").count()).toBe(0);
    await page.close();
  });
});
