import { answers, callsTools } from "@moora/llm/testing";
import { launchChromium } from "@moora/testbed/chromium";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleAgent } from "./sample-session.ts";
import { servedAgent, talkIn } from "./served-agent.ts";

const order = "acct-\u202e321\u202c9\u200b";
const shown = String.raw`acct-\u202e321\u202c9\u200b`;

const refund = callsTools([{ name: "refund", arguments: { order, euros: 12 } }]);

/** Whether a text shows no character that is not seen, or that changes how others are seen. */
const isPlain = (text: string): boolean => !/[\u200b\u202a-\u202e\u2066-\u2069]/u.test(text);

describe("characters that are not seen, or that reverse a text", () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
  });
  afterAll(() => browser.close());

  const allText = () => page.evaluate(() => document.body.innerText);
  const titles = () =>
    page.evaluate(() =>
      [...document.querySelectorAll("[title]")].map((element) => element.getAttribute("title")),
    );
  const textOfPanel = async (name: string): Promise<string> => {
    await page.getByRole("tab", { name, exact: true }).click();
    await page.locator(`.tabpanel-${name.toLowerCase()}`).waitFor();
    return await page.getByRole("tabpanel").innerText();
  };

  it("are shown as escapes in the question, in its editable arguments and in every panel", async () => {
    const paid: string[] = [];
    const agent = sampleAgent([refund, answers(`Paid to ${order}.`)], async (given) => {
      paid.push(given);
      return given;
    });
    await using server = await servedAgent(agent);
    await talkIn(page, server.url, `Refund ${order}.`);
    const questions = page.getByRole("list", { name: "Open questions" });
    await questions.getByText(`"order": "${shown}"`).waitFor();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    expect(await page.getByLabel("Arguments as JSON").inputValue()).toContain(`"order": "${shown}"`);
    await page.getByRole("button", { name: "Approve with these arguments" }).click();
    await page.getByRole("log").getByText(`Paid to ${shown}.`).waitFor();
    expect(paid).toEqual([order]);
    await page.locator("summary").first().click();
    for (const panel of ["Request", "State", "Record", "Effects", "Data", "Diff"])
      expect(isPlain(await textOfPanel(panel)), panel).toBe(true);
    expect(await textOfPanel("Request")).toContain(shown);
    expect(await textOfPanel("Data")).toContain(shown);
    expect(isPlain(await allText())).toBe(true);
    expect((await titles()).filter((title) => !isPlain(title ?? ""))).toEqual([]);
  });
});
