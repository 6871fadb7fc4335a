import { axePage, barriersIn, viewings } from "@moora/testbed/axe";
import { launchChromium } from "@moora/testbed/chromium";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { item, untilIdle, write } from "./chat-window.ts";
import { ServedPage, ServerProcess } from "./stage.ts";

describe("axe finds no barrier in the chat, and nothing moves", () => {
  let browser: Browser;
  let server: ServerProcess;
  let served: ServedPage;
  beforeAll(async () => {
    [browser, server] = await Promise.all([launchChromium(), ServerProcess.start()]);
    served = await ServedPage.of(server);
  });
  afterAll(async () => {
    await browser?.close();
    await served?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  it.each(viewings)("$colorScheme, $width pixels", async (viewing) => {
    const page = await axePage(browser, viewing);
    await page.goto(served.url);
    await page.getByText("Connected", { exact: true }).waitFor();
    expect(await barriersIn(page), "an empty chat").toEqual([]);
    await write(page, "add milk and bread");
    await item(page, "milk").click();
    await untilIdle(page);
    await write(page, "order");
    await page.getByRole("button", { name: "Approve" }).waitFor();
    expect(await barriersIn(page), "an approval").toEqual([]);
    await page.getByRole("button", { name: "Reject" }).click();
    await untilIdle(page);
    await write(page, "deliver");
    await page.getByLabel("isGift").waitFor();
    expect(await barriersIn(page), "a form").toEqual([]);
    await page.getByRole("button", { name: "Do not answer" }).click();
    await untilIdle(page);
    await write(page, "What is this?");
    await page.getByText("I keep your").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Stopped.").waitFor();
    expect(await barriersIn(page), "a stopped answer").toEqual([]);
    await page.context().setOffline(true);
    await page.evaluate(() =>
      (globalThis as unknown as { session: { reconnect(): void } }).session.reconnect(),
    );
    await write(page, "add tea");
    await page.getByText("Not sent yet").waitFor();
    expect(await barriersIn(page), "a lost network").toEqual([]);
    await page.context().close();
  });
});
