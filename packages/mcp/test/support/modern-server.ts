import { inputRequired, inputResponse, McpServer, type ServerContext } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const text = (content: string) => ({ content: [{ type: "text" as const, text: content }] });

const elicit = (message: string, field: string) =>
  inputRequired.elicit({ message, requestedSchema: z.object({ [field]: z.string() }) });

/** What the person has answered to a question, as text. */
function answerTo({ mcpReq }: ServerContext, key: string): string {
  const response = inputResponse(mcpReq.inputResponses, key);
  if (response.kind !== "elicit") return response.kind;
  return response.action === "accept" ? JSON.stringify(response.content) : response.action;
}

/** A server over standard input and output that refuses the older protocol. */
serveStdio(
  () => {
    const server = new McpServer({ name: "modern", version: "1" });
    const inputSchema = z.object({});
    server.registerTool("hello", { inputSchema }, () => text("Hello."));
    server.registerTool("ask", { inputSchema }, (_, context) => {
      const state = context.mcpReq.requestState<string>();
      if (state !== undefined) return text(`${state}: ${answerTo(context, "color")}`);
      return inputRequired({
        inputRequests: { color: elicit("Which color?", "color") },
        requestState: "state of the server",
      });
    });
    server.registerTool("ask_twice", { inputSchema }, (_, context) => {
      const keys = ["color", "size"];
      const answers = keys.map((key) => answerTo(context, key));
      if (context.mcpReq.inputResponses !== undefined) return text(answers.join(" and "));
      return inputRequired({
        inputRequests: Object.fromEntries(keys.map((key) => [key, elicit(`Which ${key}?`, key)])),
      });
    });
    server.registerTool("ask_again", { inputSchema }, () =>
      inputRequired({ inputRequests: { color: elicit("Which color?", "color") } }),
    );
    server.registerTool("wait", { inputSchema }, (_, context) =>
      context.mcpReq.requestState<string>() === "soon"
        ? text("Now.")
        : inputRequired({ inputRequests: {}, requestState: "soon" }),
    );
    return server;
  },
  { legacy: "reject" },
);
