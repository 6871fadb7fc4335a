import { inputRequired, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

/** A server over standard input and output that refuses the older protocol. */
serveStdio(
  () => {
    const server = new McpServer({ name: "modern", version: "1" });
    const inputSchema = z.object({});
    server.registerTool("hello", { inputSchema }, () => ({ content: [{ type: "text", text: "Hello." }] }));
    server.registerTool("ask", { inputSchema }, () => {
      const requestedSchema = z.object({ color: z.string() });
      return inputRequired({
        inputRequests: { color: inputRequired.elicit({ message: "Which color?", requestedSchema }) },
      });
    });
    return server;
  },
  { legacy: "reject" },
);
