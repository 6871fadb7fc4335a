import type { Agent } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { askingAgent } from "./asking-agent.ts";
import { pageForEach } from "./browser.ts";
import { Files } from "./files.ts";
import { sampleAgent, sampleSession } from "./sample-session.ts";
import { servedAgent, talkIn } from "./served-agent.ts";

const sizes = [
  { width: 400, height: 800 },
  { width: 400, height: 600 },
  { width: 800, height: 800 },
  { width: 800, height: 500 },
] as const;

const refund = callsTools([{ name: "refund", arguments: { order: "7", euros: 12 } }]);
const support = (): Agent<unknown> =>
  sampleAgent([answers("Hello."), refund, answers("Refunded.")], async (order) => `paid ${order}`);

/** Whether the middle and the corners of an element are seen: nothing clips or covers them. Runs in the page. */
function isSeen(element: Element): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const [xs, ys] = [
    [left + 6, (left + right) / 2, right - 6],
    [top + 6, (top + bottom) / 2, bottom - 6],
  ];
  return xs.every((x) =>
    ys.every((y) => {
      const found = document.elementFromPoint(x, y);
      return found !== null && (element.contains(found) || found.contains(element));
    }),
  );
}

/** The same for the box of the present state: arrows may cross it. */
const isStateSeen = (): boolean => {
  const state = document.querySelector(".node.current")?.getBoundingClientRect();
  const [frame, panel] = [".graph", "[role=tabpanel]"].map((selector) =>
    document.querySelector(selector)?.getBoundingClientRect(),
  );
  if (state === undefined || frame === undefined || panel === undefined) return false;
  return (
    state.left >= Math.max(frame.left, 0) - 1 &&
    state.right <= Math.min(frame.right, innerWidth) + 1 &&
    state.top >= panel.top - 1 &&
    state.bottom <= Math.min(panel.bottom, innerHeight) + 1
  );
};

describe("on a small page", () => {
  let page: Page;
  pageForEach((opened) => void (page = opened));

  const inView = (locator: Locator) => (): Promise<boolean> => locator.evaluate(isSeen);
  const chat = (): Locator => page.getByRole("tab", { name: "Chat" });
  const status = (text: string): Promise<void> =>
    page.getByRole("status").filter({ hasText: text }).waitFor({ state: "attached" });

  it("the graph shows the present state at each position", async () => {
    using files = new Files();
    await page.goto(`${await files.page(await sampleSession())}#at=7&tab=graph`);
    await page.locator(".node.current").waitFor();
    for (const size of sizes) {
      await page.setViewportSize(size);
      for (const at of [0, 7, 8, 10, 12, 21]) {
        await page.getByRole("slider", { name: "Record" }).fill(String(at));
        await page.locator(`main[data-seq="${at}"]`).waitFor();
        await expect.poll(() => page.evaluate(isStateSeen), { message: `${at} at ${size.width}` }).toBe(true);
      }
    }
  });

  it("the conversation comes first, and the whole graph is as wide as the page", async () => {
    await using server = await servedAgent(askingAgent());
    await page.setViewportSize({ width: 390, height: 844 });
    await talkIn(page, server.url, "A shirt, please.");
    await expect.poll(inView(page.getByText("The agent asks"))).toBe(true);
    await page.getByRole("tab", { name: "Graph" }).click();
    for (const name of ["Idle", "WaitingForHuman"]) {
      const { x = -1, width = 0 } = (await page.locator(".node", { hasText: name }).boundingBox()) ?? {};
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(390);
    }
  });

  it("a question is answered with the keyboard, and its button is always in view", async () => {
    await using server = await servedAgent(askingAgent());
    await talkIn(page, server.url, "A shirt, please.");
    await page.getByText("The agent asks").waitFor();
    const answer = page.getByRole("button", { name: "Answer", exact: true });
    for (const size of sizes) {
      await page.setViewportSize(size);
      await chat().click();
      await expect.poll(inView(answer)).toBe(true);
      for (const label of ["Size", "lines"]) {
        await page.getByLabel(label).focus();
        await expect.poll(inView(page.locator(":focus"))).toBe(true);
        await expect.poll(inView(answer)).toBe(true);
      }
    }
    await page.getByLabel("Size").fill("42");
    await page.getByLabel("color").selectOption({ label: "red" });
    await answer.focus();
    // A new question takes no press.
    await expect.poll(() => answer.getAttribute("aria-disabled")).not.toBe("true");
    await page.keyboard.press("Enter");
    await page.getByRole("log").getByText("It is ordered.").waitFor();
  });

  it("an approval has its buttons in view below what they are about", async () => {
    await using server = await servedAgent(support());
    await talkIn(page, server.url, "Hi.");
    await page.getByRole("log").getByText("Hello.").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("Refund order 7.");
    await page.keyboard.press("Enter");
    await page.getByText("Approve this call?").waitFor();
    for (const size of sizes) {
      await page.setViewportSize(size);
      await chat().click();
      await expect.poll(inView(page.getByText("Approve this call?"))).toBe(true);
      for (const name of ["Approve", "Reject"])
        await expect.poll(inView(page.getByRole("button", { name, exact: true }))).toBe(true);
    }
  });

  it("a sign on the tab and in the title shows that a question waits, at each position and in each tab", async () => {
    await using server = await servedAgent(askingAgent());
    await talkIn(page, server.url, "A shirt, please.");
    await page.setViewportSize({ width: 400, height: 800 });
    const sign = page.getByRole("tab", { name: "Chat 1 open question" });
    await sign.waitFor();
    await status("1 open question");
    expect(await page.title()).toBe("(1) Moora inspector");
    await page.getByRole("tab", { name: "Compare" }).click();
    await expect.poll(inView(sign)).toBe(true);
    await page.keyboard.press("Home");
    await page.locator('main[data-seq="0"]').waitFor();
    await expect.poll(inView(sign)).toBe(true);
    expect(await page.title()).toBe("(1) Moora inspector");
    await page.keyboard.press("q");
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe("moora-questions");
    expect(await sign.getAttribute("aria-selected")).toBe("true");
    await page.getByRole("button", { name: "Do not answer" }).click();
    await page.getByRole("log").getByText("It is ordered.").waitFor();
    await expect.poll(() => page.title()).toBe("Moora inspector");
    await expect.poll(() => chat().textContent()).toBe("Chat");
  });
});
