import { launchChromium } from "@moora/testbed/chromium";
import { answers } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askingAgent } from "./asking-agent.ts";
import { watch } from "./browser.ts";
import { sampleAgent } from "./sample-session.ts";
import { createSession, servedAgent, talkIn } from "./served-agent.ts";

const hour = 3_600_000;

interface ListAnswer {
  readonly status?: number;
  readonly json: object;
}

const listPage = (id: string, next: string | null): ListAnswer => ({
  json: { sessions: [{ id, agent: "support", seq: 7 }], next },
});

/** Answers requests for the list, by the id that a page begins after. */
async function serveList(
  page: Page,
  answersAfter: Readonly<Record<string, ListAnswer | Promise<ListAnswer>>>,
): Promise<void> {
  await page.route("**/sessions?*", async (route) => {
    const after = new URL(route.request().url()).searchParams.get("after") ?? "";
    await route.fulfill((await answersAfter[after]) ?? { status: 404 });
  });
}

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

  it("has what each session is about, its state and its open questions, and those first that wait", async () => {
    const clock = new TestClock();
    await using server = await servedAgent(askingAgent(), { clock });
    const { url } = server;
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await talkIn(page, url, "A shirt for my brother, please, in red, and a second one in blue.");
    await page.getByText("The agent asks").waitFor();
    await clock.advanceAsync(hour);
    const idle = await createSession(url);
    await page.goto(`${url}/inspector/`);
    const rows = page.locator(".sessions li");
    await rows.nth(1).waitFor();
    expect(await rows.locator("b").allTextContents()).toEqual([
      "A shirt for my brother, please, in red, and a second one in blue.",
      idle,
    ]);
    expect(await rows.locator(".status").allTextContents()).toEqual([
      "1 open questionWaitingForHuman",
      "Idle",
    ]);
    const lines = await rows.evaluateAll((all) =>
      all.map(
        (row) =>
          new Set(
            [...row.querySelectorAll("b, .status, time")].map((part) => {
              const { top, bottom } = part.getBoundingClientRect();
              return Math.round((top + bottom) / 20);
            }),
          ).size,
      ),
    );
    expect(lines).toEqual([2, 2]);
    const { width = 0 } = (await rows.locator("b").first().boundingBox()) ?? {};
    expect(width).toBeGreaterThan(320);
    await page.close();
  });

  it("creates a session of an agent, once for two presses, and is reached again from it", async () => {
    await using server = await servedAgent(sampleAgent([], async () => "paid"));
    const page = await browser.newPage();
    await page.goto(`${server.url}/inspector/`);
    await page.getByText("There is no session yet.").waitFor();
    await page.getByRole("button", { name: "New session with support" }).dblclick();
    await page.getByText("live", { exact: true }).waitFor();
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label")))
      .toBe("Message");
    await page.getByRole("button", { name: "New session", exact: true }).click();
    await page.getByRole("button", { name: "support, 1 record" }).waitFor();
    expect(await page.locator(".sessions li").count()).toBe(1);
    expect(await page.evaluate(() => location.hash)).toBe("");
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

  it("opens the session of the link before it has loaded every page", async () => {
    await using server = await servedAgent(sampleAgent([], async () => "paid"));
    const { url } = server;
    const page = await browser.newPage();
    const opened = Promise.withResolvers<void>();
    await serveList(page, {
      "": listPage("s_1", "s_1"),
      s_1: opened.promise.then(() => listPage("s_2", null)),
    });
    await page.goto(`${url}/inspector/#session=${await createSession(url)}`);
    await page.getByText("live", { exact: true }).waitFor();
    opened.resolve();
    await page.locator("option", { hasText: /^s_2$/ }).waitFor({ state: "attached" });
    expect(await page.locator("option", { hasText: /^s_1$/ }).count()).toBe(1);
    await page.close();
  });

  it("keeps the pages before one that fails", async () => {
    await using server = await servedAgent(sampleAgent([], async () => "paid"));
    const { url } = server;
    const page = await browser.newPage();
    const failed = { status: 500, json: { detail: "The log has failed." } };
    await serveList(page, { "": listPage("s_1", "s_1"), s_1: listPage("s_2", "s_2"), s_2: failed });
    await page.goto(`${url}/inspector`);
    await page.getByText("The log has failed.").waitFor();
    expect(await page.locator(".sessions li b").allTextContents()).toEqual(["s_1", "s_2"]);
    await page.getByText("The server has more sessions.").waitFor();
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
    await page.getByRole("button", { name: "s_1 support, 7 records" }).waitFor();
    expect(await page.locator(".sessions li time").count()).toBe(0);
    await page.close();
  });
});
