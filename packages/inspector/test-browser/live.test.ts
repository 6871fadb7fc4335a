import { openSession } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { launchChromium } from "@moora/testbed/chromium";
import { answers, callsTools, type MockScript } from "@moora/llm/testing";
import type { AgentServerOptions } from "@moora/server";
import type { ServedAgents } from "@moora/server/node";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { watch } from "./browser.ts";
import { sampleAgent } from "./sample-session.ts";
import { createSession, servedAgent } from "./served-agent.ts";

const script: MockScript = [
  callsTools([{ name: "refund", arguments: { order: "7", euros: 12 } }]),
  answers("Order 7 is refunded."),
  answers("You are welcome."),
];

/** A server with the inspector, whose refunds always work. */
const served = async (options: Partial<AgentServerOptions> = {}): Promise<ServedAgents> =>
  await servedAgent(
    sampleAgent(script, async (order) => `paid ${order}`),
    options,
  );

describe("the inspector of a server", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  const count = async (page: Page): Promise<number> =>
    Number((await page.locator(".position").textContent())?.split("/")[1]);

  it("follows a session, sends a message, approves a call, and shows the result", async () => {
    const { url, close } = await served({ basePath: "/api" });
    const id = await createSession(url);
    const page = await browser.newPage();
    const watched = watch(page);
    await page.goto(`${url}/inspector`);
    await page.getByRole("button", { name: id }).click();
    await page.getByRole("button", { name: "Inspect", exact: true }).click();
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("Refund order 7.");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Approve this call?").waitFor();
    const before = await count(page);
    await page.locator("body").press("ArrowLeft");
    expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
    await page.getByRole("button", { name: "Go to the newest record to act" }).click();
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByRole("log").getByText("Order 7 is refunded.").waitFor();
    expect(await count(page)).toBeGreaterThan(before);
    await page.getByRole("tab", { name: "Data" }).click();
    await page.getByRole("tabpanel").getByText('"euros": 12').waitFor();
    expect(watched.problems).toEqual([]);
    expect(new Set(watched.requests.map((request) => new URL(request).origin))).toEqual(
      new Set([new URL(url).origin]),
    );
    await page.close();
    await close();
  });

  it("says why the server does not continue a session, and loads it again", async () => {
    const agent = sampleAgent(script, async (order) => `paid ${order}`);
    const first = await servedAgent(agent);
    const { url } = first;
    const id = await createSession(url);
    const page = await browser.newPage();
    await page.goto(`${url}/inspector/#session=${id}`);
    await page.getByRole("textbox", { name: "Message" }).fill("Refund order 7.");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
    await first.close();
    await page.getByText("connecting", { exact: true }).waitFor();
    await page.locator(".moora-decision button[aria-disabled=true]", { hasText: "Approve" }).waitFor();
    await page.locator(".moora-composer > button[aria-disabled=true]", { hasText: "Send" }).waitFor();
    await page.locator("[role=group][aria-disabled=true]", { hasText: "Cancel" }).waitFor();
    const log = memoryLog();
    await (await openSession(agent, { log, id })).close();
    const second = await servedAgent(agent, { log }, Number(new URL(url).port));
    await page
      .getByRole("alert")
      .getByText(/The server does not continue this session: /)
      .waitFor();
    await page.getByText("ended", { exact: true }).waitFor();
    const before = await count(page);
    expect(await page.getByRole("button", { name: "Approve", exact: true }).count()).toBe(0);
    expect(await page.getByRole("textbox", { name: "Message" }).count()).toBe(0);
    await page.getByRole("button", { name: "Load it again" }).click();
    await page.getByText("live", { exact: true }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await count(page)).toBeLessThan(before);
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    await page.close();
    await second.close();
  });

  it("does not continue a session that was created again with as many records", async () => {
    const agent = sampleAgent(script, async (order) => `paid ${order}`);
    const first = await servedAgent(agent);
    const { url } = first;
    const id = await createSession(url);
    const page = await browser.newPage();
    await page.goto(`${url}/inspector/#session=${id}`);
    await page.getByText("live", { exact: true }).waitFor();
    const before = await count(page);
    await first.close();
    const log = memoryLog();
    const again = await openSession(agent, { log, id });
    while (again.seq() <= before) await again.send("Hi");
    await again.close();
    const second = await servedAgent(agent, { log }, Number(new URL(url).port));
    await page
      .getByRole("alert")
      .getByText(/does not continue this session: The session was removed, and created again/)
      .waitFor();
    expect(await count(page)).toBe(before);
    await page.getByRole("button", { name: "Load it again" }).click();
    await page.getByText("live", { exact: true }).waitFor();
    expect(await count(page)).toBeGreaterThan(before);
    await page.close();
    await second.close();
  });

  it("asks for another token when the one that it has is no longer accepted, and continues", async () => {
    const agent = sampleAgent(script, async (order) => `paid ${order}`);
    const log = memoryLog();
    let valid = "old";
    let refused = 0;
    const authorize: AgentServerOptions["authorize"] = (request) => {
      if (request.headers.get("authorization") === `Bearer ${valid}`) return { user: "ada" };
      refused += 1;
      return undefined;
    };
    const first = await servedAgent(agent, { authorize, log });
    const { url } = first;
    const id = await createSession(url, { authorization: "Bearer old" });
    const page = await browser.newPage();
    await page.goto(`${url}/inspector/#session=${id}`);
    await page.getByLabel("Bearer token").fill("old");
    await page.getByRole("button", { name: "Use this token" }).click();
    await page.getByText("live", { exact: true }).waitFor();
    await first.close();
    valid = "new";
    const second = await servedAgent(agent, { authorize, log }, Number(new URL(url).port));
    await page.getByText("unauthorized", { exact: true }).waitFor();
    const alert = page.getByRole("alert");
    await alert.getByText(/no longer accepts this page as its user/).waitFor();
    expect(refused).toBe(2);
    await alert.getByLabel("Bearer token").fill("wrong");
    await alert.getByRole("button", { name: "Use this token" }).click();
    await page.getByText("The server refused this token.").waitFor();
    await alert.getByLabel("Bearer token").fill("new");
    await alert.getByRole("button", { name: "Use this token" }).click();
    await page.getByText("live", { exact: true }).waitFor();
    expect(await alert.count()).toBe(0);
    await page.getByRole("textbox", { name: "Message" }).fill("Refund order 7.");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Approve this call?").waitFor();
    expect(refused).toBe(3);
    await page.close();
    await second.close();
  });

  it("asks for a token where the server needs one, and opens a link to a session", async () => {
    const authorize: AgentServerOptions["authorize"] = (request) =>
      request.headers.get("authorization") === "Bearer secret" ? { user: "ada" } : undefined;
    const { url, close } = await served({ authorize });
    const id = await createSession(url, { authorization: "Bearer secret" });
    const page = await browser.newPage();
    await page.goto(`${url}/inspector/#session=${id}&at=0`);
    const token = page.getByLabel("Bearer token");
    await token.waitFor();
    expect(await page.getByText(/authentication is required/i).count()).toBe(1);
    for (const wrong of ["wrong", "wrong again"]) {
      await token.fill(wrong);
      await token.press("Enter");
      await page.getByRole("alert").getByText("The server refused this token.").waitFor();
      await page.waitForFunction(() => document.activeElement?.getAttribute("type") === "password");
      expect(await token.inputValue()).toBe(wrong);
      expect(await token.getAttribute("aria-invalid")).toBe("true");
    }
    await token.fill("secret");
    await page.getByRole("button", { name: "Use this token" }).click();
    await page.getByRole("heading", { name: id }).waitFor();
    expect(await page.locator(".position").textContent()).toBe("0 / 1");
    await page.close();
    await close();
  });
});
