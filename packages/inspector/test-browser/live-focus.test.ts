import { defineAgent, askHuman, type Agent } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { pageForEach } from "./browser.ts";
import { sampleAgent } from "./sample-session.ts";
import { createSession, servedAgent, talkIn } from "./served-agent.ts";

const refunds = callsTools([
  { name: "refund", arguments: { order: "7", euros: 12 } },
  { name: "refund", arguments: { order: "8", euros: 13 } },
]);

/** An agent that asks about two refunds, and then answers each message. */
const support = (): Agent<unknown> =>
  sampleAgent([refunds, answers("Refunded."), answers("Well.")], async (order) => `paid ${order}`);

const asking = (): Agent<unknown> =>
  defineAgent({
    name: "support",
    llm: new MockLlmCaller([
      callsTools([{ name: "ask_human", arguments: { question: "Which shirt?" } }]),
      answers("It is ordered."),
    ]),
    tools: [askHuman()],
  });

describe("in a live session", () => {
  let page: Page;
  pageForEach((opened) => void (page = opened));

  const message = () => page.getByRole("textbox", { name: "Message" });
  const approve = () => page.getByRole("button", { name: "Approve", exact: true });
  const said = (text: string) => page.getByRole("log").getByText(text, { exact: true }).waitFor();
  const isFocused = (locator: ReturnType<typeof message>) =>
    locator.evaluate((element) => element === document.activeElement);
  const hasFocus = (selector: string) => () =>
    page.evaluate((wanted) => document.activeElement?.matches(wanted), selector);

  it("the field for messages keeps the focus when a message is sent with Enter", async () => {
    await using server = await servedAgent(
      sampleAgent([answers("Hello."), answers("Well.")], async () => ""),
    );
    await talkIn(page, server.url, "Hi.");
    await said("Hello.");
    await message().focus();
    await page.keyboard.type("all well?");
    await page.keyboard.press("Enter");
    await said("Well.");
    expect(await isFocused(message())).toBe(true);
    await page.keyboard.type("?l");
    expect(await message().inputValue()).toBe("?l");
  });

  it("the focus goes from a question that is decided with Enter to the next one, then to the field for messages", async () => {
    await using server = await servedAgent(support());
    await talkIn(page, server.url, "Refund both.");
    await page.waitForFunction(() => document.querySelectorAll(".moora-decision").length === 2);
    await approve().first().focus();
    await expect.poll(hasFocus(".moora-decision .moora-primary[aria-disabled=false]")).toBe(true);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelectorAll(".moora-decision").length === 1);
    await expect.poll(hasFocus(".moora-decision .moora-primary[aria-disabled=false]")).toBe(true);
    await page.keyboard.press("Enter");
    await said("Refunded.");
    await expect.poll(hasFocus(".moora-composer textarea")).toBe(true);
  });

  it("the focus goes from an answer to the field for messages", async () => {
    await using server = await servedAgent(asking());
    await talkIn(page, server.url, "A shirt, please.");
    await page.locator(".moora-decision :is(input, textarea)").first().focus();
    await page.keyboard.type("The red one.");
    await page.getByRole("button", { name: "Answer", exact: true }).focus();
    await expect.poll(hasFocus(".moora-decision .moora-primary[aria-disabled=false]")).toBe(true);
    await page.keyboard.press("Enter");
    await said("It is ordered.");
    await expect.poll(hasFocus(".moora-composer textarea")).toBe(true);
  });

  it("the focus stays on the page when a session is chosen with the keyboard", async () => {
    await using server = await servedAgent(support());
    const [first, second] = [await createSession(server.url), await createSession(server.url)];
    await page.goto(`${server.url}/inspector/`);
    await page.getByRole("button", { name: first }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("live", { exact: true }).waitFor();
    await expect.poll(() => isFocused(message())).toBe(true);
    await page.getByRole("button", { name: "Inspect", exact: true }).click();
    await page.getByRole("combobox", { name: "Session" }).selectOption(second);
    await page.getByRole("heading", { level: 1 }).getByText(second).waitFor();
    await expect.poll(hasFocus(".top select")).toBe(true);
  });

  it("a click leaves the keys to the page", async () => {
    await using server = await servedAgent(sampleAgent([answers("Hello.")], async () => ""));
    await talkIn(page, server.url, "Hi.");
    await said("Hello.");
    await message().focus();
    await page.getByRole("log").click();
    expect(await isFocused(message())).toBe(false);
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
  });
});
