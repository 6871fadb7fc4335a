import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { memoryLog } from "@moora/event-log";
import { connectMcp, mcpServer, mcpTools } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { payingAgent, pays } from "../support/agents.ts";
import { serveHttp } from "../support/servers.ts";
import { runTool } from "../support/tools.ts";

const modernServer = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../support/modern-server.ts", import.meta.url))],
};

describe("a local server that speaks only the newer protocol", () => {
  it("is spoken to in it", async () => {
    await using connection = await connectMcp(modernServer, { name: "modern" });
    expect(await runTool(connection.tools, "modern_hello")).toEqual({ isSuccess: true, content: "Hello." });
  });

  it("that needs the answer of a person fails the call if no person can be asked", async () => {
    const client = new Client({ name: "own", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StdioClientTransport({ ...modernServer, stderr: "ignore" }));
    const tools = await mcpTools(client, { name: "modern" });
    expect(await runTool(tools, "modern_ask")).toMatchObject({
      isSuccess: false,
      code: "input-required",
      error: expect.stringContaining("needs the answer of a person, which this agent cannot ask for"),
    });
    await client.close();
  });
});

describe("a server over HTTP that changes its tools", () => {
  it("reports them over the subscription of the newer protocol", async () => {
    let names = ["one"];
    const handler = createMcpHandler(() => {
      const server = new McpServer(
        { name: "changing", version: "1" },
        { capabilities: { tools: { listChanged: true } } },
      );
      for (const name of names) {
        server.registerTool(name, { inputSchema: z.object({}) }, () => ({
          content: [{ type: "text", text: name }],
        }));
      }
      return server;
    });
    const listener = toNodeHandler(handler);
    await using server = await serveHttp((request, response) => void listener(request as never, response));
    await using connection = await connectMcp({ url: server.url }, { name: "web" });
    const changed = Promise.withResolvers<readonly string[]>();
    connection.onToolsChanged((tools) => changed.resolve(tools.map(({ name }) => name)));
    names = ["one", "two"];
    handler.notify.toolsChanged();
    expect(await changed.promise).toEqual(["web_one", "web_two"]);
    expect(await runTool(connection.tools, "web_two")).toMatchObject({ content: "two" });
    await handler.close();
  });
});

describe("an agent that is served, as a tool of another one", () => {
  it("asks the person of the other one for approval", async () => {
    const { agent, payments } = payingAgent(...pays());
    await using server = mcpServer([agent], { log: memoryLog() });
    const { url } = await server.listen();
    const asked: string[] = [];
    await using connection = await connectMcp(
      { url },
      {
        name: "shop",
        onElicitation({ message, server: name }) {
          asked.push(`${name}: ${message}`);
          return { action: "accept", content: { approve: true } };
        },
      },
    );
    const outcome = await runTool(connection.tools, "shop_cashier", { task: "Pay 5 euros." });
    expect(asked).toEqual(['shop: The agent asks for approval: may it call pay({"euros":5})?']);
    expect(outcome).toMatchObject({ isSuccess: true, content: expect.stringContaining("It is paid.") });
    expect(payments).toEqual([5]);
  });

  it("counts a person who does not answer as one who closed the question", async () => {
    const { agent, payments } = payingAgent(...pays());
    await using server = mcpServer([agent], { log: memoryLog() });
    const { url } = await server.listen();
    const onElicitation = (): Promise<never> => Promise.reject(new Error("The terminal is gone."));
    await using connection = await connectMcp({ url }, { name: "shop", onElicitation });
    const outcome = await runTool(connection.tools, "shop_cashier", { task: "Pay 5 euros." });
    expect(outcome).toMatchObject({
      isSuccess: false,
      error: expect.stringContaining("waits for the decision"),
    });
    expect(payments).toEqual([]);
  });
});
