import { fileURLToPath } from "node:url";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  defineAgent,
  openSession,
  runTask,
  type Decision,
  type DurableSession,
  type Question,
} from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { connectMcp, type McpConnection, type McpServerAddress, type McpConnectOptions } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { everythingOverHttp, npmServer, serveHttp, type RunningServer } from "../support/servers.ts";
import { runTool } from "../support/tools.ts";

const modern: McpServerAddress = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../support/modern-server.ts", import.meta.url))],
};

/** An agent that calls a tool, and answers with its result. */
const agentWith = ({ tools }: McpConnection, name: string) =>
  defineAgent({
    tools,
    llm: new MockLlmCaller(({ messages }) => {
      const last = messages.at(-1);
      return last?.role === "assistant" ? answers(last.results[0]?.content ?? "") : callsTools([{ name }]);
    }),
  });

/** The answer of the agent, and the questions that a person was asked. */
async function runWith(
  connection: McpConnection,
  name: string,
  decide: (question: Question) => Decision,
): Promise<{ readonly text: string; readonly questions: readonly string[] }> {
  const questions: string[] = [];
  const { text } = await runTask(agentWith(connection, name), "Go.", {
    onApproval(question) {
      questions.push(question.question ?? "");
      return decide(question);
    },
  });
  return { text, questions };
}

async function openQuestion(session: DurableSession): Promise<Question> {
  await untilPasses(() => expect(session.questions()).toHaveLength(1));
  const [question] = session.questions();
  if (question === undefined) throw new Error("No question is open.");
  return question;
}

describe("a question of a server in the newer protocol", () => {
  it("is one of the agent, and the server gets the answer with its state", async () => {
    await using connection = await connectMcp(modern, { name: "modern" });
    expect(await runWith(connection, "modern_ask", () => ({ answer: { color: "red" } }))).toEqual({
      text: 'state of the server: {"color":"red"}',
      questions: ["The MCP server modern asks: Which color?"],
    });
  });

  it("waits in the log for a process and a server that are started later", async () => {
    const log = memoryLog();
    {
      await using connection = await connectMcp(modern, { name: "modern" });
      await using session = await openSession(agentWith(connection, "modern_ask"), { log, id: "ada" });
      session.onEvent(() => undefined);
      await session.send("Go.");
      await openQuestion(session);
    }
    await using connection = await connectMcp(modern, { name: "modern" });
    await using session = await openSession(agentWith(connection, "modern_ask"), { log, id: "ada" });
    session.onEvent(() => undefined);
    await session.decide(await openQuestion(session), { answer: { color: "blue" } }, "ada");
    await session.settled();
    expect(session.current().messages.at(-1)?.content).toBe('state of the server: {"color":"blue"}');
  });

  it("that is refused is declined, and the server decides what follows", async () => {
    await using connection = await connectMcp(modern, { name: "modern" });
    const { text } = await runWith(connection, "modern_ask", () => ({ reject: "None of your business." }));
    expect(text).toBe("state of the server: decline");
  });

  it("is asked after another one where the server asks both at once", async () => {
    await using connection = await connectMcp(modern, { name: "modern" });
    const decide = ({ question = "" }: Question): Decision =>
      question.includes("color") ? { answer: { color: "red" } } : { answer: { size: "large" } };
    expect(await runWith(connection, "modern_ask_twice", decide)).toEqual({
      text: '{"color":"red"} and {"size":"large"}',
      questions: ["The MCP server modern asks: Which color?", "The MCP server modern asks: Which size?"],
    });
  });

  it("that comes again and again ends the call", async () => {
    await using connection = await connectMcp(modern, { name: "modern" });
    const { text, questions } = await runWith(connection, "modern_ask_again", () => ({
      answer: { color: "red" },
    }));
    expect(text).toContain("The MCP tool ask_again has asked more than 10 times in one call.");
    expect(questions).toHaveLength(10);
  });

  it("may be missing: a server that only needs time gets the call again", async () => {
    await using connection = await connectMcp(modern, { name: "modern" });
    expect(await runTool(connection.tools, "modern_wait")).toEqual({ isSuccess: true, content: "Now." });
  });

  const form = { type: "object", properties: { a: { type: "string" } } };
  const elicits = (requestedSchema: object): object => ({
    method: "elicitation/create",
    params: { mode: "form", message: "Which?", requestedSchema },
  });

  it.each<[string, object, object]>([
    [
      "to the model of the client",
      { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
      {
        code: "input-required",
        error:
          "The MCP tool ask asks the client for sampling/createMessage, which is not supported. The call may have had its effect.",
      },
    ],
    [
      "with a schema that is not one",
      elicits({ ...form, properties: { a: { type: "text" } } }),
      {
        code: "invalid-result",
        error: expect.stringMatching(
          /^The question of the MCP tool ask cannot be asked: .* got "text"\. The call ran/,
        ),
      },
    ],
    [
      "with an endless schema",
      elicits({ ...form, description: "x".repeat(30_000) }),
      { code: "invalid-result", error: expect.stringContaining("Its schema has more than 20000 characters") },
    ],
  ])("%s fails the call", async (_, request, outcome) => {
    await using server = await askingServer(request);
    await using connection = await connectMcp({ url: server.url }, { name: "odd" });
    expect(await runTool(connection.tools, "odd_ask")).toMatchObject({ isSuccess: false, ...outcome });
  });

  it("with a page in place of a form is declined", async () => {
    const params = { mode: "url", message: "Sign in.", url: "https://a.example", elicitationId: "1" };
    await using server = await askingServer({ method: "elicitation/create", params });
    await using connection = await connectMcp({ url: server.url }, { name: "odd" });
    expect(await runTool(connection.tools, "odd_ask")).toMatchObject({
      content: '{"it":{"action":"decline"}}',
    });
  });
});

/** A server over HTTP whose tool asks for this input, whether the client offers it or not, and then returns what it got. */
async function askingServer(request: object): Promise<RunningServer> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "odd", version: "1" });
    server.registerTool("ask", { inputSchema: z.object({}) }, (_, { mcpReq }) => ({
      content: [{ type: "text", text: JSON.stringify(mcpReq.inputResponses) }],
    }));
    return server;
  });
  const asks = { resultType: "input_required", inputRequests: { it: request } };
  const listener = toNodeHandler({
    async fetch(message: Request) {
      const { id, method, params } = await message.clone().json();
      if (method !== "tools/call" || "inputResponses" in params) return await handler.fetch(message);
      return Response.json({ jsonrpc: "2.0", id, result: asks });
    },
  });
  return await serveHttp((message, response) => void listener(message as never, response));
}

describe("a question of a server in the older protocol, in the middle of a call", () => {
  const keyed: McpConnectOptions = { name: "every", rule: () => ({ replay: "keyed" }) };
  const tool = "every_trigger-elicitation-request";
  const details = { name: "Ada", check: true };

  it("is one of the agent where the call may be made again, which then gets the answer", async () => {
    await using connection = await connectMcp(npmServer("everything"), keyed);
    const { text, questions } = await runWith(connection, tool, () => ({ answer: details }));
    expect(text).toContain("Ada");
    expect(questions).toHaveLength(1);
    expect(questions[0]).toMatch(/^The MCP server every asks: /);
  });

  it("is so over HTTP as well", async () => {
    await using server = await everythingOverHttp();
    await using connection = await connectMcp({ url: server.url }, keyed);
    expect((await runWith(connection, tool, () => ({ answer: details }))).text).toContain("Ada");
  });

  it("is declined where the person refuses", async () => {
    await using connection = await connectMcp(npmServer("everything"), keyed);
    const { text } = await runWith(connection, tool, () => ({ reject: "No." }));
    expect(text).toContain("declined");
  });

  it("fails where the call must not be made again", async () => {
    await using connection = await connectMcp(npmServer("everything"), {
      ...keyed,
      rule: () => ({ risk: "low" }),
    });
    const { text, questions } = await runWith(connection, tool, () => ({ answer: details }));
    expect(text).toContain("No person can be asked: the call may not be made again.");
    expect(questions).toEqual([]);
  });

  it("fails while another call of the server is open, of which it may be as well", async () => {
    await using connection = await connectMcp(npmServer("everything"), keyed);
    const other = new AbortController();
    const long = runTool(
      connection.tools,
      "every_trigger-long-running-operation",
      { duration: 60, steps: 60 },
      { signal: other.signal },
    );
    expect(await runTool(connection.tools, tool)).toMatchObject({
      isSuccess: false,
      error: expect.stringContaining("No person can be asked: several calls are open."),
    });
    other.abort();
    await long;
  });

  it("is not offered to a server over HTTP whose calls must not be made again", async () => {
    await using server = await everythingOverHttp();
    await using connection = await connectMcp({ url: server.url }, { name: "every" });
    expect(connection.tools.map(({ name }) => name)).not.toContain(tool);
  });
});
