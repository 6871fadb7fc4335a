import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

/** A server with a tool that returns its arguments and one variable of its environment. */
serveStdio(() => {
  const server = new McpServer({ name: "echo", version: "1" });
  const inputSchema = z.object({ text: z.string() });
  server.registerTool("echo", { description: "Echoes.", inputSchema }, ({ text }) => ({
    content: [
      { type: "text", text: [process.argv[2], process.env["GREETING"], text].filter(Boolean).join(" ") },
    ],
  }));
  return server;
});
