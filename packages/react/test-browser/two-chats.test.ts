import { join } from "node:path";
import { defineAgent, defineTool } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { createAgentServer } from "@moora/server";
import { serve } from "@moora/server/node";
import { TestBrowser } from "@moora/testbed/browser";
import { expect, it } from "vitest";

it("an answer that is given in the moment in which a page changes to another chat reaches its own chat", async () => {
  await using browser = await TestBrowser.start({
    scripts: { page: join(import.meta.dirname, "two-chats.ts") },
  });
  const paid: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    input: { type: "object" },
    approval: "always",
    execute: (input) => (paid.push(input), "paid"),
  });
  const llm = new MockLlmCaller(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === "user"
      ? callsTools([{ name: "pay", arguments: { for: JSON.stringify(last.content) } }])
      : answers("It is paid.");
  });
  const server = createAgentServer({
    agents: [defineAgent({ name: "helper", llm, tools: [pay] })],
    log: memoryLog(),
    allowedOrigins: [new URL(browser.url).origin],
  });
  const { url, close } = await serve(server, { port: 0 });
  for (const id of ["a", "b"]) {
    const message = { id: `of-${id}`, role: "user", parts: [{ type: "text", text: `Chat ${id}` }] };
    const response = await fetch(`${url}/agents/helper/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id, messages: [message], trigger: "submit-message" }),
    });
    await response.text();
  }
  const page = await browser.open();
  const changed = Promise.withResolvers<void>();
  const bodies: { readonly id: string }[] = [];
  await page.route("**/agents/helper/chat", async (route) => {
    if (route.request().method() !== "POST") return await route.continue();
    bodies.push(route.request().postDataJSON());
    await changed.promise;
    // The request of the chat that the page has left was aborted.
    await route.continue().catch(() => undefined);
  });
  const reads: string[] = [];
  page.on("request", (request) => request.method() === "GET" && reads.push(request.url()));
  await page.evaluate((address) => showChats(address), url);
  await page.getByText("Chat a, 1 open").waitFor();
  reads.length = 0;
  await page.evaluate(() => approveAndChange());
  await page.getByText("Chat b, 1 open").waitFor();
  changed.resolve();
  await expect.poll(() => paid).toEqual([{ for: expect.stringContaining("Chat a") }]);
  expect(reads.filter((read) => read.endsWith("/a/stream"))).toEqual([]);
  expect(new Set(bodies.map(({ id }) => id))).toEqual(new Set(["a"]));
  await page.close();
  await close();
});
