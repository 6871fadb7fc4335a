import { launchChromium } from "@moora/testbed/chromium";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  expectSameState,
  item,
  openWindow,
  recordStream,
  rendersIn,
  sessionIn,
  untilIdle,
  write,
} from "./chat-window.ts";
import { inputsOf } from "./server-state.ts";
import { ServedPage, ServerProcess } from "./stage.ts";

let browser: Browser;
let server: ServerProcess;
let served: ServedPage;

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

/** The answer to a post that the server refuses. */
const tooLong = {
  status: 413,
  json: { status: 413, title: "Body too large", code: "body-too-large", detail: "Too long." },
};

const open = (id = ""): Promise<Page> => openWindow(browser, served.url, id);
const idOf = async (page: Page): Promise<string> => (await sessionIn(page)).id;
const expectSame = (...pages: readonly Page[]): Promise<void> => expectSameState(server.url, ...pages);

describe("the chat in a browser", () => {
  it("shows one session in two windows, with the data that both change", async () => {
    const first = await open();
    const second = await open(await idOf(first));
    await write(first, "add milk and bread");
    await item(second, "milk").waitFor();
    await item(second, "milk").click();
    await expect.poll(() => item(first, "milk").isChecked()).toBe(true);
    await second.getByLabel("New item").fill("tea");
    await second.keyboard.press("Enter");
    await item(first, "tea").waitFor();
    await first.getByText("Added milk, bread.").last().waitFor();
    await second.getByText("Added milk, bread.").last().waitFor();
    await expectSame(first, second);
    await Promise.all([first.context().close(), second.context().close()]);
  });

  it("asks in both windows, and one decides while the other looks on", async () => {
    const first = await open();
    const second = await open(await idOf(first));
    await write(first, "order");
    const question = (page: Page) => page.getByRole("region", { name: "Approval of order" });
    await Promise.all([question(first).waitFor(), question(second).waitFor()]);
    // By keyboard only.
    await question(second).getByRole("button", { name: "Reject" }).focus();
    await second.keyboard.press("Enter");
    await question(first).waitFor({ state: "detached" });
    await question(second).waitFor({ state: "detached" });
    await first.locator('.call[data-status="rejected"]').waitFor();
    expect(await first.locator(".call").textContent()).toContain("The user said no.");
    await untilIdle(first);
    await expectSame(first, second);
    await Promise.all([first.context().close(), second.context().close()]);
  });

  it("continues when the server is killed in the middle of a tool and started again", async () => {
    const page = await open();
    await write(page, "add milk");
    await item(page, "milk").waitFor();
    await untilIdle(page);
    await write(page, "order");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.locator('.call[data-status="running"]').getByText("Calling the shop").waitFor();
    await server.kill();
    await page.getByText("Offline.").waitFor();
    await write(page, "add bread");
    await page.getByText("Not sent yet").waitFor();
    await server.start();
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.getByText("Ordered milk.").first().waitFor();
    await item(page, "bread").waitFor();
    expect(await item(page, "milk").isChecked()).toBe(true);
    await untilIdle(page);
    await expectSame(page);
    const { id, seq } = await sessionIn(page);
    const inputs = await inputsOf(server.url, id, seq);
    expect(inputs.filter(({ type }) => type === "user-message-received")).toHaveLength(3);
    expect(await page.locator(".message.user").count()).toBe(3);
    await page.context().close();
  });

  it("goes offline and comes back, and sends what was written once and in order", async () => {
    const first = await open();
    const second = await open(await idOf(first));
    await first.context().setOffline(true);
    // A connection that is open stays open: a lost network is noticed when it is used.
    await first.evaluate(() =>
      (globalThis as unknown as { session: { reconnect(): void } }).session.reconnect(),
    );
    await write(first, "add tea");
    await write(first, "add salt");
    await first.getByText("Not sent yet").nth(1).waitFor();
    await second.getByLabel("New item").fill("oil");
    await second.keyboard.press("Enter");
    await item(second, "oil").waitFor();
    await first.context().setOffline(false);
    for (const page of [first, second])
      for (const name of ["oil", "tea", "salt"]) await item(page, name).waitFor();
    const texts = await second.locator(".message.user p").allTextContents();
    expect(texts).toEqual(["add tea", "add salt"]);
    await untilIdle(first);
    await expectSame(first, second);
    await Promise.all([first.context().close(), second.context().close()]);
  });

  it("shows what a tool asks as a form, and does not offer to approve it", async () => {
    const page = await open();
    await write(page, "deliver");
    const question = page.getByRole("region", { name: "Question of deliver" });
    await question.getByText("When shall it arrive?").waitFor();
    expect(await question.getByRole("button").allTextContents()).toEqual(["Answer", "Do not answer"]);
    await question.getByLabel("day").selectOption("tomorrow");
    await question.getByLabel("isGift").check();
    await question.getByLabel("note").fill("Ring twice");
    await question.getByRole("button", { name: "Answer", exact: true }).click();
    await page.getByText("It arrives tomorrow as a gift, note: Ring twice.").last().waitFor();
    await untilIdle(page);
    await expectSame(page);
    await page.context().close();
  });

  it("shows why a decision was not accepted", async () => {
    const page = await open();
    await write(page, "order");
    await page.getByRole("region", { name: "Approval of order" }).waitFor();
    const receipt = { status: "ignored", reason: "digest-mismatch" };
    await page.route("**/decisions?*", (route) => route.fulfill({ json: receipt }));
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Not accepted: digest-mismatch.").waitFor();
    await page.unroute("**/decisions?*");
    await page.getByRole("button", { name: "Reject" }).click();
    await page.locator('.call[data-status="rejected"]').waitFor();
    expect(await page.locator(".call").textContent()).toContain("The user said no.");
    await untilIdle(page);
    await expectSame(page);
    await page.context().close();
  });

  it("shows why a message was refused, and keeps its text in the field", async () => {
    const page = await open();
    const field = page.getByLabel("Message", { exact: true });
    await page.route("**/messages?*", (route) => route.fulfill(tooLong));
    await write(page, "add milk");
    await page.getByRole("alert").getByText("Too long.").waitFor();
    expect(await field.inputValue()).toBe("add milk");
    await page.unroute("**/messages?*");
    await page.keyboard.press("Enter");
    await item(page, "milk").waitFor();
    await expect.poll(() => page.getByRole("alert").count()).toBe(0);
    await expectSame(page);
    await page.context().close();
  });

  it("keeps a refused item in its field, and shows why until it is added again", async () => {
    const page = await open();
    const field = page.getByLabel("New item");
    await page.route("**/data?*", (route) => route.fulfill(tooLong));
    await field.fill("tea");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("Too long.").waitFor();
    expect(await field.inputValue()).toBe("tea");
    const shown = Promise.withResolvers<void>();
    await page.unroute("**/data?*");
    await page.route("**/data?*", async (route) => await shown.promise.then(() => route.continue()));
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("alert").count()).toBe(0);
    shown.resolve();
    await item(page, "tea").waitFor();
    await expectSame(page);
    await page.context().close();
  });

  it("sends what was written offline, once, when its page was closed and is opened again", async () => {
    const first = await open();
    const id = await idOf(first);
    const context = first.context();
    await context.setOffline(true);
    await first.evaluate(() =>
      (globalThis as unknown as { session: { reconnect(): void } }).session.reconnect(),
    );
    await write(first, "add tea");
    await first.getByText("Not sent yet").waitFor();
    await first.close();
    await context.setOffline(false);
    const [second, third] = await Promise.all([context.newPage(), context.newPage()]);
    for (const page of [second, third]) await page.goto(`${served.url}#${id}`);
    for (const page of [second, third]) await item(page, "tea").waitFor();
    expect(await second.locator(".message.user p").allTextContents()).toEqual(["add tea"]);
    expect(await second.evaluate(() => localStorage.length)).toBe(0);
    await untilIdle(second);
    await expectSame(second, third);
    await context.close();
  });

  it("renders one component for a token", async () => {
    const page = await open();
    await write(page, "What is this?");
    await page.locator('.message[data-streaming="true"]').getByText("I keep your").waitFor();
    await rendersIn(page);
    await page.getByText("in every window").waitFor();
    const renders = await rendersIn(page);
    expect(Object.keys(renders).toSorted()).toEqual(["MessageView", "Part"]);
    expect(renders["MessageView"]).toBeGreaterThan(3);
    expect(renders["Part"]).toBe(renders["MessageView"]);
    await page.keyboard.press("Escape");
    await page.getByText("Stopped.").waitFor();
    await expectSame(page);
    await page.context().close();
  });

  it("renders only the streamed part of a message with a text, a call and a text, at most once for a token", async () => {
    const page = await open();
    const streamed = await recordStream(page);
    await write(page, "add milk");
    await page.getByText("Added milk.").last().waitFor();
    await untilIdle(page);
    const parts = page.locator(".message.assistant").first().locator(":scope > p, :scope > .call > strong");
    expect(await parts.allTextContents()).toEqual([
      "I write that down. ",
      "add_items",
      "Tick off what you have, or add items of your own.",
    ]);
    const pieces = (await streamed()).filter(({ isAfterCall }) => isAfterCall);
    // The ten words after the call; the later ones are those of the next message.
    const tokens = pieces.filter(({ event }) => event === "LlmToken").slice(0, 10);
    expect(tokens).toHaveLength(10);
    for (const { renders } of tokens) {
      expect(Object.keys(renders).filter((name) => !["MessageView", "Part"].includes(name))).toEqual([]);
      expect(Math.max(...Object.values(renders), 0)).toBeLessThanOrEqual(1);
    }
    expect(tokens.filter(({ renders }) => renders["Part"] === 1).length).toBeGreaterThan(3);
    await expectSame(page);
    await page.context().close();
  });
});
