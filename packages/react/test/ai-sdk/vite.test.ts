import { join } from "node:path";
import { createAgentServer } from "@moora/server";
import { serve } from "@moora/server/node";
import { memoryLog } from "@moora/event-log";
import { answers } from "@moora/llm/testing";
import { Page, Programs } from "@moora/testbed/page";
import { agentOf } from "@moora/testbed/server/agent-of";
import { expect, it } from "vitest";
import { createViteServer } from "vitest/node";

it("a page behind the proxy of Vite, as the page about chats configures it, sends a message", async () => {
  const { url, close } = await serve(
    createAgentServer({ agents: [agentOf([answers("Hello.")])], log: memoryLog() }),
    { port: 0 },
  );
  using programs = new Programs(import.meta.dirname);
  const config = new Page("docs/chats.md").block("ts file=vite.config.ts");
  expect(config).toContain("http://127.0.0.1:8080");
  programs.write("vite.config.ts", config.replace("http://127.0.0.1:8080", url));
  const vite = await createViteServer({
    configFile: join(programs.path, "vite.config.ts"),
    root: programs.path,
    logLevel: "silent",
    server: { host: "127.0.0.1", port: 0, strictPort: false, ws: false, watch: null },
  });
  await vite.listen();
  const address = vite.httpServer?.address();
  const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Hi" }] };
  const response = await fetch(`${origin}/agents/helper/chat`, {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify({ id: "chat-1", messages: [message], trigger: "submit-message" }),
  });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("data: [DONE]");
  await vite.close();
  await close();
});
