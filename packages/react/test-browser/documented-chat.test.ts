import { join } from "node:path";
import { askHuman, defineAgent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { createAgentServer } from "@moora/server";
import { serve } from "@moora/server/node";
import { TestBrowser } from "@moora/testbed/browser";
import { Page as Documentation, Programs } from "@moora/testbed/page";
import { paid, pay } from "@moora/testbed/server/paying-tools";
import { expect, it } from "vitest";

declare global {
  /** Begins the page of the documentation, at the server with this URL. */
  var begin: (server: string) => Promise<unknown>;
}

const entry = `globalThis.begin = (server) => {
  const { fetch } = globalThis;
  globalThis.fetch = (path, init) => fetch(server + path, init);
  return import("./chat.tsx");
};`;

const shirt = {
  type: "object",
  properties: {
    size: { enum: ["S", "M"] },
    count: { type: "integer" },
    gift: { type: "boolean" },
    note: { type: "string" },
  },
  required: ["size", "count", "gift"],
  additionalProperties: false,
} as const;

async function startBrowser(): Promise<TestBrowser> {
  using programs = new Programs(import.meta.dirname);
  programs.write("chat.tsx", new Documentation("docs/chats.md").block("tsx"));
  programs.write("entry.ts", entry);
  return await TestBrowser.start({ scripts: { page: join(programs.path, "entry.ts") } });
}

it("the page of the documentation asks for an approval and for an answer, and shows a chat again", async () => {
  await using browser = await startBrowser();
  const script = [
    callsTools([{ name: "pay", arguments: { cents: 5 } }]),
    callsTools([{ name: "ask", arguments: { question: "Which color?" } }]),
    callsTools([{ name: "order", arguments: { question: "Which shirt?" } }]),
    answers("It is paid, and red."),
  ];
  const server = createAgentServer({
    agents: [
      defineAgent({
        name: "helper",
        llm: new MockLlmCaller(script),
        tools: [pay, askHuman({ name: "ask" }), askHuman({ name: "order", answer: shirt })],
      }),
    ],
    log: memoryLog(),
    allowedOrigins: [new URL(browser.url).origin],
  });
  const { url, close } = await serve(server, { port: 0 });
  const page = await browser.open();
  const show = (): Promise<unknown> => page.evaluate((address) => begin(address).then(() => undefined), url);
  await show();
  await page.getByLabel("Message").fill("Pay");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Which color?").waitFor();
  await page.locator("input[name=answer]").fill("red");
  await page.getByRole("button", { name: "Answer" }).click();
  await page.getByText("Which shirt?").waitFor();
  await page.getByLabel("size").selectOption("M");
  await page.getByLabel("count").fill("2");
  await page.getByLabel("gift").check();
  await page.getByRole("button", { name: "Answer" }).click();
  await page.getByText("It is paid, and red.").waitFor();
  await page.reload();
  await show();
  await page.getByText("It is paid, and red.").waitFor();
  expect(await page.getByText('pay {"cents":5}: output-available').count()).toBe(1);
  expect(paid).toEqual([{ cents: 5 }]);
  await page.close();
  await close();
});
