import { launchChromium } from "@moora/testbed/chromium";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { watch } from "./browser.ts";
import { Files } from "./files.ts";
import { longSession } from "@moora/testbed/long-session";

const count = 100_000;

describe("a session of 100,000 records", () => {
  let browser: Browser;
  let page: Page;
  const files = new Files();

  beforeAll(async () => {
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    await page.goto(await files.page());
    await page.locator(".drop input[type=file]").setInputFiles(files.write("long.jsonl", longSession(count)));
    await page.getByRole("listbox").waitFor();
  });
  afterAll(async () => {
    await browser.close();
    files[Symbol.dispose]();
  });

  const position = async (): Promise<string | null> => await page.locator(".position").textContent();

  it("is opened with few elements, and every position is reached", async () => {
    const watched = watch(page);
    expect(await position()).toBe("100003 / 100003");
    for (const at of [1, 99_999, 50_000, 12_345]) {
      await page.getByRole("slider", { name: "Record" }).fill(String(at));
      await page
        .getByRole("option", { selected: true })
        .and(page.locator(`#record-${at}`))
        .waitFor();
      await page.waitForFunction(
        (seq) => document.querySelector(".graph-panel .facts")?.textContent?.includes(`loop ${seq},`),
        Math.ceil((at - 1) / 7),
      );
    }
    expect(await page.locator("*").count()).toBeLessThan(1_500);
    expect(watched.problems).toEqual([]);
  });

  it("is searched, and zoomed in to some records", async () => {
    await page.getByRole("searchbox").fill("model 9876.");
    await page.waitForFunction(() => document.querySelector(".search output")?.textContent?.endsWith("/ 2"));
    await page.getByRole("searchbox").press("Enter");
    expect(await page.getByRole("option").allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining("model 9876.")]),
    );
    await page.getByRole("searchbox").press("Escape");
    for (let time = 0; time < 12; time += 1) await page.locator("body").press("+");
    await page.locator("body").press("End");
    expect(await page.locator(".cursor").count()).toBe(1);
  });
});
