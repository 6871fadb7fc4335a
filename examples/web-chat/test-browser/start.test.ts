import { launchChromium } from "@moora/testbed/chromium";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectSameState, item, openWindow, sessionIn, untilIdle, write } from "./chat-window.ts";
import { inputsOf } from "./server-state.ts";
import { StartedExample } from "./started-example.ts";

describe("start.ts", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  it("starts a server again that is killed in the middle of an order, and the page continues with nothing lost or doubled", async () => {
    await using example = await StartedExample.start();
    const page = await openWindow(browser, example.url);
    await write(page, "add milk");
    await item(page, "milk").waitFor();
    await untilIdle(page);
    await write(page, "order");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.locator('.call[data-status="running"]').getByText("Calling the shop").waitFor();
    const restarted = example.killServer();
    await page.getByText("Offline.").waitFor();
    await write(page, "add bread");
    await restarted;
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.getByText("Ordered milk.").first().waitFor();
    await item(page, "bread").waitFor();
    await untilIdle(page);
    expect(await item(page, "milk").isChecked()).toBe(true);
    expect(await page.locator(".message.user p").allTextContents()).toEqual([
      "add milk",
      "order",
      "add bread",
    ]);
    await expectSameState(example.server, page);
    const { id, seq } = await sessionIn(page);
    const types = (await inputsOf(example.server, id, seq)).map(({ type }) => type);
    expect(types.filter((type) => type === "user-message-received")).toHaveLength(3);
    expect(types.filter((type) => type === "tool-call-completed")).toHaveLength(3);
    expect(types.filter((type) => type === "session-opened")).toHaveLength(2);
    await page.context().close();
    expect(await example.stop()).toBe(0);
    await expect(fetch(example.server)).rejects.toThrow("fetch failed");
  });
});
