import type { Agent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools } from "@moora/llm/testing";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { pageForEach } from "./browser.ts";
import { sampleAgent } from "./sample-session.ts";
import { servedAgent, talkIn } from "./served-agent.ts";

const refund = callsTools([{ name: "refund", arguments: { order: "7", euros: 12 } }]);

const name = "customer-support-of-the-shop-for-lamps";

const support = (): Agent<unknown> =>
  sampleAgent([refund, answers("Refunded.")], async (order) => `paid ${order}`, name);

const widths = [320, 400, 700, 719, 720, 760, 800, 860, 900, 985, 1_000, 1_159, 1_160, 1_200, 1_400];

/** How many pixels the page is wider than the window. Waits until its layout is that of the width. */
async function overflowAt(page: Page, width: number): Promise<number> {
  await page.setViewportSize({ width, height: 900 });
  const overflow = await page.waitForFunction((wanted) => {
    const root = document.documentElement;
    if (innerWidth !== wanted || root.clientWidth !== wanted) return undefined;
    // The handlers of the new size run in the next frame, what they render is there in the one after it.
    return new Promise<string>((resolve) =>
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(`${root.scrollWidth - wanted}`))),
    );
  }, width);
  return Number(await overflow.jsonValue());
}

/** The widths at which a page is wider than its window, with the pixels. */
async function overflowsOf(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const width of widths) {
    const overflow = await overflowAt(page, width);
    if (overflow > 0) found.push(`${width}: ${overflow}`);
  }
  return found;
}

describe("the header of a live session fits in pages of each width", () => {
  let page: Page;
  pageForEach((opened) => void (page = opened), { bypassCSP: true });

  const pause = async (): Promise<void> => {
    await page.getByRole("banner").getByText("WaitingForHuman").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("banner").getByText("paused").waitFor();
  };

  /** Makes the texts as wide as in the widest of the usual fonts. */
  const widenLetters = () => page.addStyleTag({ content: "* { letter-spacing: 0.1em }" });

  it("while it waits, paused", async () => {
    await using server = await servedAgent(support());
    await talkIn(page, server.url, "Refund order 7.", name);
    await pause();
    expect(await overflowsOf(page)).toEqual([]);
    await widenLetters();
    expect(await overflowsOf(page)).toEqual([]);
  });

  it("when the server no longer accepts its user", async () => {
    const [agent, log] = [support(), memoryLog()];
    const first = await servedAgent(agent, { log });
    await talkIn(page, first.url, "Refund order 7.", name);
    await pause();
    await first.close();
    const refusing = { log, authorize: () => undefined };
    const second = await servedAgent(agent, refusing, Number(new URL(first.url).port));
    await page.getByRole("banner").getByText("unauthorized").waitFor();
    await widenLetters();
    expect(await overflowsOf(page)).toEqual([]);
    await second.close();
  });
});
