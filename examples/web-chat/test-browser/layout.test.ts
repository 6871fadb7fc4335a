import { launchChromium } from "@moora/testbed/chromium";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { untilIdle, write } from "./chat-window.ts";
import { ServedPage, ServerProcess } from "./stage.ts";

let browser: Browser;
let server: ServerProcess;
let served: ServedPage;
let page: Page;
let problems: string[];

beforeAll(async () => {
  browser = await launchChromium();
  server = await ServerProcess.start();
  served = await ServedPage.of(server);
});

afterAll(async () => {
  await browser?.close();
  await served?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  problems = [];
  page = await browser.newPage({ viewport: { width: 1_000, height: 700 } });
  page.setDefaultTimeout(8_000);
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  await page.goto(served.url);
  await page.getByText("Connected", { exact: true }).waitFor();
});

afterEach(async () => {
  await page.close();
  if (problems.length > 0) throw new Error(problems.join("\n"));
});

async function addItem(name: string): Promise<void> {
  await page.getByLabel("New item").fill(name);
  await page.keyboard.press("Enter");
}

const boxOf = async (locator: Locator) =>
  (await locator.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };

describe("items of one name", () => {
  it("are ticked and removed one by one", async () => {
    await write(page, "add milk and milk");
    const items = page.getByRole("checkbox", { name: "milk" });
    await expect.poll(() => items.count()).toBe(2);
    await untilIdle(page);
    await items.nth(1).click();
    await expect.poll(() => items.nth(1).isChecked()).toBe(true);
    expect(await items.nth(0).isChecked()).toBe(false);
    await page.getByRole("button", { name: "Remove milk" }).nth(0).click();
    await expect.poll(() => items.count()).toBe(1);
    expect(await items.isChecked()).toBe(true);
  });
});

describe("the focus", () => {
  it("is in the message field after a decision by keyboard", async () => {
    await write(page, "order");
    const approve = page.getByRole("button", { name: "Approve" });
    await approve.focus();
    await page.keyboard.press("Enter");
    await approve.waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("message");
    await untilIdle(page);
  });
});

describe("the page on a small screen", () => {
  it("shows its parts below each other, without an overlap", async () => {
    await page.setViewportSize({ width: 400, height: 400 });
    await addItem("tea");
    await page.getByRole("checkbox", { name: "tea" }).waitFor();
    await write(page, "order");
    await page.getByRole("button", { name: "Approve" }).waitFor();
    const [messages, composer, list] = await Promise.all(
      [".messages", ".composer", ".list"].map((selector) => boxOf(page.locator(selector))),
    );
    expect(messages?.height).toBeGreaterThan(60);
    expect((messages?.y ?? 0) + (messages?.height ?? 0)).toBeLessThanOrEqual(composer?.y ?? 0);
    expect((composer?.y ?? 0) + (composer?.height ?? 0)).toBeLessThanOrEqual(list?.y ?? 0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400);
    await page.getByRole("button", { name: "Reject" }).click();
    await untilIdle(page);
  });

  it("wraps a long word, and keeps its button in reach", async () => {
    const word = "Donaudampfschifffahrt".repeat(8);
    await addItem(word);
    const remove = page.getByRole("button", { name: `Remove ${word}` });
    for (const width of [1_000, 400]) {
      await page.setViewportSize({ width, height: 700 });
      const [button, list] = await Promise.all([boxOf(remove), boxOf(page.locator(".list"))]);
      expect(button.x + button.width).toBeLessThanOrEqual(list.x + list.width);
    }
    await remove.click();
    await remove.waitFor({ state: "detached" });
  });

  it("keeps the messages at their end when the window gets narrow", async () => {
    await write(page, "What is this?");
    await untilIdle(page);
    await write(page, "And again?");
    await untilIdle(page);
    await page.setViewportSize({ width: 400, height: 500 });
    const rest = () =>
      page.locator(".messages").evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight);
    const isScrolled = await page
      .locator(".messages")
      .evaluate((list) => list.scrollHeight > list.clientHeight);
    expect(isScrolled).toBe(true);
    await expect.poll(rest).toBeLessThan(2);
  });
});

describe("the form of a question", () => {
  it("has labels apart from their fields", async () => {
    await write(page, "deliver");
    const question = page.getByRole("region", { name: "Question of deliver" });
    const day = question.getByLabel("day");
    await day.waitFor();
    for (const name of ["day", "note", "isGift"]) {
      const gap = await question.getByLabel(name).evaluate((field) => {
        const text = document.createRange();
        text.selectNodeContents(field.previousSibling ?? field);
        const [before, after] = [text.getBoundingClientRect(), field.getBoundingClientRect()];
        return Math.max(after.left - before.right, after.top - before.bottom);
      });
      expect(gap, name).toBeGreaterThan(2);
    }
    await question.getByRole("button", { name: "Do not answer" }).click();
    await untilIdle(page);
  });
});

describe("a call that is to be approved", () => {
  it("shows hidden characters as escapes", async () => {
    await write(page, "add a\u202eb\u200bc");
    const call = page.locator(".call code").first();
    const shown = String.raw`a\u202eb\u200bc`;
    await call.getByText(shown).waitFor();
    expect(await call.textContent()).toContain(shown);
    await untilIdle(page);
  });
});
