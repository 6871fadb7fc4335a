import { join } from "node:path";
import { defineAgent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { TestBrowser } from "@moora/testbed/browser";
import { expect, it } from "vitest";
import { createAgentServer } from "../src/index.ts";
import { serve } from "../src/node.ts";
import { paid, pay } from "@moora/testbed/server/paying-tools";

it("a page with useChat shows a static tool, with its approval and its output, also after a reload", async () => {
  await using browser = await TestBrowser.start({
    scripts: { page: join(import.meta.dirname, "plain-chat.ts") },
  });
  const script = [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("It is paid.")];
  const server = createAgentServer({
    agents: [defineAgent({ name: "helper", llm: new MockLlmCaller(script), tools: [pay] })],
    log: memoryLog(),
    allowedOrigins: [new URL(browser.url).origin],
    toolParts: "static",
  });
  const { url, close } = await serve(server, { port: 0 });
  const page = await browser.open();
  const show = (): Promise<void> => page.evaluate((address) => showChat(address), url);
  await show();
  await page.getByRole("button", { name: "Pay" }).click();
  await page.getByRole("button", { name: 'Approve {"cents":5}' }).click();
  for (const isReloaded of [false, true]) {
    if (isReloaded) {
      await page.reload();
      await show();
    }
    await page.getByText("It is paid.").waitFor();
    const tool = page.locator("p.tool");
    await tool.getByText('output-available "paid"').waitFor();
    expect(await tool.getAttribute("data-type")).toBe("tool-pay");
  }
  expect(paid).toEqual([{ cents: 5 }]);
  await page.close();
  await close();
});
