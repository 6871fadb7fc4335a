import { readFileSync } from "node:fs";
import { agentTool, askHuman, defineAgent, openSession, parsePortable, type Agent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, fails, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { pageForEach, watch, type Watched } from "./browser.ts";
import { sampleAgent } from "./sample-session.ts";
import { servedAgent, talkIn } from "./served-agent.ts";

const asks = callsTools([{ name: "ask_human", arguments: { question: "Which shirt?" } }]);

/** An agent that asks for a shirt, and then answers. */
const asking = (name: string): Agent<unknown> =>
  defineAgent({
    name,
    llm: new MockLlmCaller([asks, answers("It is ordered.")]),
    tools: [
      askHuman({
        answer: {
          type: "object",
          properties: {
            size: { type: "integer", minimum: 30, title: "Size" },
            color: { enum: ["red", "blue"] },
            gift: { type: "boolean" },
            lines: { type: "array", items: { type: "string" } },
          },
          required: ["size", "color"],
          additionalProperties: false,
        },
      }),
    ],
  });

const refund = callsTools([{ name: "refund", arguments: { order: "7", euros: 12 } }]);

const support = (script: MockScript): Agent<unknown> => sampleAgent(script, async (order) => `paid ${order}`);

describe("in a live session", () => {
  let page: Page;
  let watched: Watched;
  pageForEach((opened) => {
    page = opened;
    watched = watch(page);
  });

  /** What the page must not report. The browser reports a refused decision as well. */
  const problems = () => watched.problems.filter((text) => !text.includes("status of 422"));

  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const said = (text: string) => page.getByRole("log").getByText(text).waitFor();

  it("a question with a schema shows its text, and is answered in a form, which says what is wrong", async () => {
    await using server = await servedAgent(asking("support"));
    await talkIn(page, server.url, "A shirt, please.");
    const question = page.getByRole("list", { name: "Open questions" });
    await question.getByText("Which shirt?", { exact: true }).waitFor();
    expect(await question.locator("pre").count()).toBe(0);
    const size = page.getByLabel("Size");
    await size.fill("large");
    await page.getByLabel("color").selectOption("blue");
    await page.getByLabel("lines").fill('["Ada"]');
    await button("Answer").click();
    await page.getByRole("alert").getByText("Size: Enter a whole number").waitFor();
    expect(await size.getAttribute("aria-invalid")).toBe("true");
    await size.fill("12");
    await button("Answer").click();
    await page.getByRole("alert").getByText("30").waitFor();
    await size.fill("42");
    await size.press("Enter");
    await said("It is ordered.");
    await page.getByRole("searchbox").fill("type:decided");
    await page.getByRole("listbox", { name: "Records that match" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "Record" }).click();
    await page
      .getByRole("tabpanel")
      .getByText(String.raw`{\"size\":42,\"color\":\"blue\",\"lines\":[\"Ada\"]}`)
      .first()
      .waitFor();
    expect(problems()).toEqual([]);
  });

  it("a question of a sub-agent is answered with its path", async () => {
    const log = memoryLog();
    const lead = defineAgent({
      name: "support",
      llm: new MockLlmCaller([
        callsTools([{ name: "shop", arguments: { task: "A shirt." } }]),
        answers("All done."),
      ]),
      tools: [agentTool(asking("shop"), { name: "shop", description: "Buys things.", log })],
    });
    await using server = await servedAgent(lead, { log });
    await talkIn(page, server.url, "A shirt, please.");
    await page.getByText(/A sub-agent asks, below call_/).waitFor();
    expect(await button("As JSON").count()).toBe(0);
    await page.getByLabel("Size").fill("12");
    await page.getByLabel("color").selectOption("red");
    await button("Answer").click();
    await page.getByRole("alert").getByText("30").waitFor();
    await page.getByLabel("Size").fill("42");
    await button("Answer").click();
    await said("All done.");
    expect(await page.getByText("A sub-agent asks").count()).toBe(0);
    expect(problems()).toEqual([]);
  });

  it("a call is approved with other arguments", async () => {
    await using server = await servedAgent(support([refund, answers("Done.")]));
    await talkIn(page, server.url, "Refund it.");
    await button("Edit").click();
    await page.getByLabel("Arguments as JSON").fill('{ "order": "8" }');
    await button("Approve with these arguments").click();
    await page
      .getByRole("alert")
      .getByText(/^euros: .*[^)]$/)
      .waitFor();
    await page.getByLabel("Arguments as JSON").fill('{ "order": "8", "euros": 9 }');
    await button("Approve with these arguments").click();
    await said("Done.");
    const call = page.getByRole("log").locator("details.moora-call");
    expect(await call.locator(".moora-arguments").textContent()).toBe('{"order":"8","euros":9}');
    await call.locator("summary").click();
    expect(await call.locator("pre").allTextContents()).toEqual([
      '{"order":"8","euros":9}',
      '{"order":"7","euros":12}',
      "paid 8",
    ]);
    await page.getByRole("tab", { name: "Data" }).click();
    await page.getByRole("tabpanel").getByText('"euros": 9').waitFor();
    expect(problems()).toEqual([]);
  });

  it("the session is paused and resumed, and a failed loop is tried again", async () => {
    await using server = await servedAgent(support([refund, fails("invalid-request"), answers("Done.")]));
    await talkIn(page, server.url, "Refund it.");
    await button("Approve").waitFor();
    expect(await button("Retry loop").isDisabled()).toBe(true);
    await button("Pause").click();
    await page.getByRole("banner").getByText("paused").waitFor();
    await page.getByRole("status").filter({ hasText: "Paused" }).waitFor();
    await button("Approve").click();
    await button("Resume").click();
    const failure = page.getByRole("note");
    await failure.waitFor();
    // It is as high as its line of text.
    expect((await failure.boundingBox())?.height).toBeLessThan(60);
    expect(await button("Cancel").isDisabled()).toBe(true);
    await button("Retry loop").click();
    await said("Done.");
    expect(problems()).toEqual([]);
  });

  it("the session is forked at the record that is shown, and the fork is opened and goes its own way", async () => {
    await using server = await servedAgent(support([refund, answers("Rejected, then.")]));
    await talkIn(page, server.url, "Refund it.");
    const heading = page.getByRole("heading", { level: 1 });
    const original = (await heading.textContent()) ?? "";
    await button("Approve").waitFor();
    await button("Fork from here").focus();
    await page.keyboard.press("Enter");
    await page.getByText(`fork of ${original} at 3`).waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    expect(await heading.textContent()).not.toBe(original);
    await button("Reject").click();
    await said("Rejected, then.");
    await page.getByRole("combobox", { name: "Session" }).selectOption(original);
    await heading.getByText(original).waitFor();
    await button("Approve").waitFor();
    expect(await page.getByText("Rejected, then.").count()).toBe(0);
    await page.getByRole("slider", { name: "Record" }).fill("1");
    await button("Fork from here").click();
    await page.getByText(`fork of ${original} at 1`).waitFor();
    await page.getByText("No message at this position.").waitFor();
    expect(problems()).toEqual([]);
  });

  it("a fork at the record of a snapshot has one record less, and the page says why, over no control", async () => {
    const log = memoryLog();
    const agent = support(() => answers("Hello."));
    const closed = await openSession(agent, { log, id: "one" });
    await closed.ask("Hi.");
    await closed.close();
    await using server = await servedAgent(agent, { log });
    await page.goto(`${server.url}/inspector/#session=one`);
    await page.getByText("live", { exact: true }).waitFor();
    const [at = ""] = (await page.locator(".position").textContent())?.split(" ") ?? [];
    await button("Fork from here").click();
    const notice = page.getByRole("status").filter({ hasText: `This is a fork of one at record ${at}.` });
    await notice.getByText(`It has ${Number(at) - 1} records: those of snapshots are not copied.`).waitFor();
    const covered = await notice.evaluate((element) => {
      const shown = element.getBoundingClientRect();
      return [...document.querySelectorAll("button, input, select")].filter((control) => {
        const { top, bottom, left, right } = control.getBoundingClientRect();
        return bottom > shown.top && top < shown.bottom && right > shown.left && left < shown.right;
      }).length;
    });
    expect(covered).toBe(0);
    expect(problems()).toEqual([]);
  });

  it("a fork that the server refuses is reported, and the session stays", async () => {
    await using server = await servedAgent(support([answers("Hello.")]));
    await talkIn(page, server.url, "Hi.");
    await said("Hello.");
    const id = await page.getByRole("heading", { level: 1 }).textContent();
    const detail = "The session is damaged.";
    await page.route("**/fork", (route) => route.fulfill({ status: 422, json: { detail } }));
    await button("Fork from here").click();
    await page.getByRole("status").getByText(detail).waitFor();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(id);
    expect(problems()).toEqual([]);
  });

  it("a golden log also has the records that were streamed, and they are checked", async () => {
    await using server = await servedAgent(support([answers("Hello.")]));
    await talkIn(page, server.url, "Hi.");
    await said("Hello.");
    await page.getByRole("tab", { name: "Record" }).click();
    await button("Load the digests").click();
    await page.getByText("The digests are valid").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("Hi again.");
    await button("Send").click();
    await button("Load the digests").waitFor();
    await page.locator("body").press("s");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save the golden log" }).click(),
    ]);
    const { records } = parsePortable(readFileSync(await download.path(), "utf8"));
    expect(records.length).toBeGreaterThan(5);
    await page.keyboard.press("Escape");
    await page.getByText("The digests are valid").waitFor();
    expect(problems()).toEqual([]);
  });
});
