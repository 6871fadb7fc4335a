import { askHuman, defineAgent, defineData, defineTool, openSession, type Agent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { launchChromium } from "@moora/testbed/chromium";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { watch } from "./browser.ts";
import { hostileTexts } from "./hostile-texts.ts";
import { servedAgent } from "./served-agent.ts";
import { foreignParts, pageElements, visitPanels, watchElements } from "./visit.ts";

const all = hostileTexts.join("\n");
const data = defineData({
  schema: z.object({ texts: z.record(z.string(), z.string()) }),
  initial: { texts: {} },
});

const groups = Array.from({ length: Math.ceil(hostileTexts.length / 10) }, (_, index) =>
  hostileTexts.slice(index * 10, index * 10 + 10),
);

/** For each group: a turn of reasoning, text, and three calls for each text; then an answer. In the end a question with a schema, and a call to approve. */
const script: MockScript = [
  ...groups.flatMap((texts) => {
    const text = texts.join("\n");
    const details = { reasoning: text, model: text, warnings: texts };
    const calls = texts.flatMap((each) => [
      { name: "keep", arguments: { text: each } },
      { name: "fail", arguments: { [each]: each } },
      { name: each, arguments: each },
    ]);
    return [callsTools(calls, { ...details, text }), answers(text, details)];
  }),
  callsTools([{ name: "ask_human", arguments: { question: all } }]),
  callsTools([{ name: "pay", arguments: { [all]: all } }], { text: all }),
  answers(all),
];

const agent: Agent<unknown> = defineAgent({
  name: "support",
  llm: new MockLlmCaller(script),
  data,
  config: { systemPrompt: all },
  tools: [
    defineTool({
      name: "keep",
      description: all,
      input: z.object({ text: z.string() }),
      data,
      execute({ text }, { update, progress }) {
        progress(text);
        update(
          (draft) =>
            void Object.defineProperty(draft.texts, `key ${text}`, {
              value: text,
              enumerable: true,
              writable: true,
              configurable: true,
            }),
        );
        return text;
      },
    }),
    defineTool({
      name: "fail",
      description: all,
      input: z.record(z.string(), z.string()),
      execute(texts) {
        throw new Error(Object.values(texts).join(""));
      },
    }),
    defineTool({
      name: "pay",
      description: all,
      approval: "always",
      input: z.record(z.string(), z.string()),
      execute: () => all,
    }),
    askHuman({
      description: all,
      answer: {
        type: "object",
        title: all,
        properties: Object.fromEntries(
          groups.map((texts, index) => {
            const text = texts.join("\n");
            const form = index % 2 === 0 ? { enum: texts } : { type: "string" };
            return [text, { title: text, description: text, ...form }];
          }),
        ),
      },
    }),
  ],
});

describe("hostile content in a live session", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** Posts to the session of the page, as its user. */
  const post = (page: Page, id: string, content: string): Promise<number> =>
    page.evaluate(
      async ([session = "", text]) => {
        const body = JSON.stringify({ content: text });
        const headers = { "content-type": "application/json" };
        const address = `../sessions/${encodeURIComponent(session)}/messages`;
        return (await fetch(address, { method: "POST", headers, body })).status;
      },
      [id, content],
    );

  const count = async (page: Page): Promise<number> =>
    Number((await page.locator(".position").textContent())?.split("/")[1]);

  it("is text in lists, streams, questions, forms and answers", async () => {
    const id = `"><img src=x onerror=window.__x=1>javascript:window.__x=1`;
    const log = memoryLog();
    await (await openSession(agent, { log, id })).close();
    await using server = await servedAgent(agent, { log });
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    const watched = watch(page);
    await page.addInitScript(watchElements, pageElements);
    await page.goto(`${server.url}/inspector/`);
    await page.getByRole("button", { name: id }).click();
    await page.getByRole("button", { name: "Inspect", exact: true }).click();
    await page.getByText("live", { exact: true }).waitFor();
    for (const text of groups.map((texts) => texts.join("\n"))) {
      const before = await count(page);
      expect(await post(page, id, text)).toBe(200);
      await expect.poll(() => count(page), { timeout: 8_000 }).toBeGreaterThan(before + 4);
      await page.locator(".top .pill.state-Done").waitFor();
    }
    await post(page, id, all);
    await page.getByRole("button", { name: "Answer", exact: true }).waitFor();
    expect(await page.locator(".moora-fields select").count()).toBe(groups.length / 2);
    await page.evaluate(visitPanels);
    expect(await foreignParts(page)).toEqual([]);
    await page.getByRole("button", { name: "Do not answer" }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Reason, if you reject" }).fill(all);
    await page.getByRole("button", { name: "Approve with these arguments" }).click();
    await page.locator(".top .pill.state-Done").waitFor();
    await page.evaluate(visitPanels);
    expect(await foreignParts(page)).toEqual([]);
    expect(await page.evaluate("added")).toEqual([]);
    expect(watched.problems).toEqual([]);
    expect(new Set(watched.requests.map((url) => new URL(url).origin))).toEqual(new Set([server.url]));
    await page.close();
  });
});
