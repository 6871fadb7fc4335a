import type { Agent } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { axePage, barriersIn, viewings } from "@moora/testbed/axe";
import { launchChromium } from "@moora/testbed/chromium";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askingAgent } from "./asking-agent.ts";
import { Files } from "./files.ts";
import { sampleAgent, sampleSession } from "./sample-session.ts";
import { createSession, servedAgent, talkIn } from "./served-agent.ts";

const refund = callsTools([{ name: "refund", arguments: { order: "7", euros: 12 } }]);
const support = (): Agent<unknown> =>
  sampleAgent([refund, answers("Done.")], async (order) => `paid ${order}`);

describe.each(viewings)("axe finds no barrier, and nothing moves: $colorScheme, $width pixels", (viewing) => {
  let browser: Browser;
  let page: Page;
  let sample = "";
  const files = new Files();
  beforeAll(async () => {
    [browser, sample] = await Promise.all([launchChromium(), sampleSession()]);
    page = await axePage(browser, viewing);
  });
  afterAll(async () => {
    await browser.close();
    files[Symbol.dispose]();
  });

  const open = async (address: string): Promise<void> => {
    // Another fragment only is not another page.
    await page.goto("about:blank");
    await page.goto(address);
  };

  it("in the start screen, and with a file that is not a session", async () => {
    await open(await files.page());
    expect(await barriersIn(page)).toEqual([]);
    await page.locator(".drop input[type=file]").setInputFiles(files.write("notes.jsonl", "hello\n"));
    await page.getByRole("alert").waitFor();
    expect(await barriersIn(page)).toEqual([]);
  });

  it("in all panels, with a search, and in the dialogs", async () => {
    await open(`${await files.page(sample)}#at=17`);
    await page.getByRole("tab").first().waitFor();
    for (const panel of await page.getByRole("tab").all()) {
      await panel.click();
      await page.locator(".tabpanel > *").first().waitFor();
      expect(await barriersIn(page), (await panel.textContent()) ?? "").toEqual([]);
    }
    await page.getByRole("searchbox").fill("tool:refund");
    await page.locator(".search.found").waitFor();
    expect(await barriersIn(page)).toEqual([]);
    for (const name of ["Share", "Keys"]) {
      await page.getByRole("button", { name, exact: true }).click();
      await page.getByRole("dialog").waitFor();
      expect(await barriersIn(page), name).toEqual([]);
      await page.keyboard.press("Escape");
    }
  });

  it("in a damaged session, and with everything opened that can be", async () => {
    const lines = sample.split("\n");
    await open(
      `${await files.page(lines.with(6, (lines[6] ?? "").replace("30 days", "9 days")).join("\n"))}#at=6`,
    );
    await page.getByRole("alert").waitFor();
    for (const name of ["Graph", "Record", "State", "Request"]) {
      await page.getByRole("tab", { name, exact: true }).click();
      await page.evaluate(() => {
        for (const details of document.querySelectorAll("details")) details.open = true;
      });
      expect(await barriersIn(page), name).toEqual([]);
    }
  });

  it("in the form for a token, and the list of sessions", async () => {
    await using server = await servedAgent(support(), {
      authorize: (request) =>
        request.headers.get("authorization") === "Bearer secret" ? { user: "ada" } : undefined,
    });
    await createSession(server.url, { authorization: "Bearer secret" });
    await open(`${server.url}/inspector/`);
    await page.getByLabel("Bearer token").waitFor();
    expect(await barriersIn(page)).toEqual([]);
    await page.getByLabel("Bearer token").fill("secret");
    await page.getByRole("button", { name: "Use this token" }).click();
    await page.locator(".sessions li").waitFor();
    expect(await barriersIn(page)).toEqual([]);
  });

  it("in a live session: an approval, its arguments, a form with a problem, a pause", async () => {
    const chat = async (): Promise<void> => {
      // A wide page shows the chat beside its tabs.
      if (viewing.width < 1_160) await page.getByRole("tab", { name: "Chat" }).click();
    };
    await using first = await servedAgent(support());
    await page.goto("about:blank");
    await page.setViewportSize({ width: 1_280, height: 800 });
    await talkIn(page, first.url, "Refund it.");
    await page.waitForFunction(() => document.title.startsWith("(1) "));
    await page.setViewportSize({ width: viewing.width, height: 800 });
    await page.getByRole("tab", { name: "Graph" }).waitFor();
    expect(await barriersIn(page), "a sign on a tab").toEqual([]);
    await chat();
    await page.getByText("Approve this call?").waitFor();
    expect(await barriersIn(page)).toEqual([]);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("banner").getByText("paused").waitFor();
    expect(await barriersIn(page)).toEqual([]);
    await using second = await servedAgent(askingAgent());
    await page.setViewportSize({ width: 1_280, height: 800 });
    await talkIn(page, second.url, "A shirt, please.");
    await page.setViewportSize({ width: viewing.width, height: 800 });
    await chat();
    await page.getByLabel("Size").fill("12");
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await page.getByRole("alert").waitFor();
    expect(await barriersIn(page)).toEqual([]);
  });
});
