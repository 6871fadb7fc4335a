import type { Agent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { inspectorOfServer } from "@moora/inspector";
import { createAgentServer, type AgentServerOptions } from "@moora/server";
import { serve, type ServedAgents } from "@moora/server/node";
import type { Page } from "playwright-core";

/** A server of one agent, with the inspector. */
export async function servedAgent(
  agent: Agent<unknown>,
  options: Partial<AgentServerOptions> = {},
  port = 0,
): Promise<ServedAgents & AsyncDisposable> {
  const server = createAgentServer({
    agents: [agent],
    log: memoryLog(),
    inspector: inspectorOfServer,
    ...options,
  });
  const served = await serve(server, { port });
  return { ...served, [Symbol.asyncDispose]: () => served.close() };
}

/** Creates a session of an agent. Returns its id. */
export async function createSession(
  url: string,
  headers: Record<string, string> = {},
  agent = "support",
): Promise<string> {
  const response = await fetch(`${url}/agents/${agent}/sessions`, { method: "POST", headers });
  return ((await response.json()) as { id: string }).id;
}

/** Opens a new session in the inspector, and sends a message. */
export async function talkIn(page: Page, url: string, message: string, agent?: string): Promise<void> {
  await page.goto(`${url}/inspector/#session=${await createSession(url, {}, agent)}`);
  await page.getByText("live", { exact: true }).waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill(message);
  await page.getByRole("button", { name: "Send" }).click();
}
