import { Client, InMemoryTransport, type CallToolResult } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { defineAgent, runTask } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { mcpTools, type McpClient, type McpToolsOptions } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { runTool, toolNamed } from "../support/tools.ts";

interface Hints {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
}

/** A client that is connected to a server of these tools in this process. */
async function connected(tools: Readonly<Record<string, Hints>>, pages = 1): Promise<Client> {
  const server = new McpServer({ name: "test", version: "1" });
  for (const [name, annotations] of Object.entries(tools)) {
    server.registerTool(
      name,
      { description: `Does ${name}.`, inputSchema: z.object({}), annotations },
      () => ({
        content: [{ type: "text", text: name }],
      }),
    );
  }
  if (pages > 1) {
    server.server.setRequestHandler("tools/list", ({ params }) => {
      const page = Number(params?.cursor ?? 1);
      const tool = { name: `tool${page}`, inputSchema: { type: "object" as const } };
      return { tools: [tool], ...(page < pages ? { nextCursor: String(page + 1) } : {}) };
    });
  }
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  const client = new Client({ name: "own", version: "1" });
  await client.connect(near);
  return client;
}

const policies = async (hints: Hints, options: Partial<McpToolsOptions> = {}) => {
  const [tool] = await mcpTools(await connected({ act: hints }), { name: "own", ...options });
  const { risk, approval, replay, timeoutMs } = tool?.definition ?? {};
  return { risk, approval, replay, timeoutMs };
};

describe("a client of one's own", () => {
  it("gives its tools, and keeps working without this package", async () => {
    const client = await connected({ act: {} });
    const tools = await mcpTools(client, { name: "own" });
    expect(toolNamed(tools, "own_act").definition.description).toBe("Does act.");
    expect(await runTool(tools, "own_act")).toEqual({ isSuccess: true, content: "act" });
    expect(await client.listTools()).toMatchObject({ tools: [{ name: "act" }] });
    await client.close();
    expect(await runTool(tools, "own_act")).toMatchObject({ isSuccess: false, code: "connection-lost" });
  });

  it("gives so many tools that the model searches for them, without any setting", async () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`step_${index}`, {}]));
    const tools = await mcpTools(await connected({ ...many, weigh: {} }), { name: "own" });
    const llm = new MockLlmCaller([
      callsTools([{ name: "search_tools", arguments: { query: "weigh something" } }]),
      callsTools([{ name: "own_weigh" }]),
      answers("Weighed."),
    ]);
    const { state } = await runTask(defineAgent({ llm, tools }), "Weigh it.");
    const offered = llm.requests.map((request) => request.tools.map(({ name }) => name));
    expect(offered.slice(0, 2)).toEqual([["search_tools"], ["search_tools", "own_weigh"]]);
    expect(state.toolCalls["call_1"]?.result).toMatchObject({ isSuccess: true, content: "weigh" });
  });

  it("gives the tools that can be used, where the protocol does not allow another one", async () => {
    const server = new McpServer({ name: "test", version: "1" }, { capabilities: { tools: {} } });
    const wrong = { name: "wrong", inputSchema: { type: "string" } };
    // The list is one that the types of the server do not allow either.
    server.server.setRequestHandler("tools/list", ({ params }) =>
      params?.cursor === undefined
        ? ({ tools: [wrong], nextCursor: "2" } as never)
        : { tools: [{ name: "act", inputSchema: { type: "object" } }] },
    );
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    const client = new Client({ name: "own", version: "1" });
    await client.connect(near);
    const skipped: string[] = [];
    const tools = await mcpTools(client, { name: "own", onSkipped: ({ name }) => skipped.push(name) });
    expect(tools.map(({ name }) => name)).toEqual(["own_act"]);
    expect(skipped).toEqual(["wrong"]);
  });

  it("gives the tools of all pages", async () => {
    const tools = await mcpTools(await connected({ act: {} }, 5), { name: "own" });
    expect(tools.map(({ name }) => name)).toEqual([1, 2, 3, 4, 5].map((page) => `own_tool${page}`));
  });
});

describe("a result that does not fit the output schema of its tool", () => {
  it("fails the call of a client of one's own with invalid-result", async () => {
    const server = new McpServer({ name: "test", version: "1" }, { capabilities: { tools: {} } });
    const outputSchema = { type: "object" as const, properties: { n: { type: "number" } } };
    server.server.setRequestHandler("tools/list", () => ({
      tools: [{ name: "act", inputSchema: { type: "object" as const }, outputSchema }],
    }));
    server.server.setRequestHandler("tools/call", () => ({ content: [], structuredContent: { n: "one" } }));
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    const client = new Client({ name: "own", version: "1" });
    await client.connect(near);
    expect(await runTool(await mcpTools(client, { name: "own" }), "own_act")).toMatchObject({
      isSuccess: false,
      code: "invalid-result",
      error: expect.stringContaining("The call ran and may have had its effect."),
    });
  });
});

describe("a result", () => {
  const replyTo = async (result: CallToolResult) => {
    const client: McpClient = {
      listTools: () => Promise.resolve({ tools: [{ name: "act", inputSchema: { type: "object" } }] }),
      callTool: () => Promise.resolve(result),
    };
    return await runTool(await mcpTools(client, { name: "own" }), "own_act");
  };
  const text = (content: string) => ({ type: "text" as const, text: content });

  it.each<[string, string[], object, string]>([
    ["the same JSON", ['{ "b": [2], "a": 1 }'], { a: 1, b: [2] }, '{ "b": [2], "a": 1 }'],
    ["the text of its only field", ["Buy milk.\n"], { content: "Buy milk.\n" }, "Buy milk.\n"],
    ["all texts of its only field", ["One.", "Two."], { content: "One.\nTwo." }, "One.\nTwo."],
    ["the items of its only field", ["One.", '{"n":2}'], { result: ["One.", { n: 2 }] }, 'One.\n{"n":2}'],
    ["the number of its only field", ["8"], { result: 8 }, "8"],
    ["one of its fields", ["One."], { content: "One.", isCut: true }, 'One.\n{"isCut":true}'],
    ["something else", ["Two."], { a: 1, b: [2] }, 'Two.\n{"a":1,"b":[2]}'],
    ["an empty list", ["Nothing."], { found: [] }, 'Nothing.\n{"found":[]}'],
  ])("has its structured content once where a text is %s", async (_, texts, structuredContent, content) => {
    const result = { content: texts.map(text), structuredContent: { ...structuredContent } };
    expect(await replyTo(result)).toEqual({ isSuccess: true, content });
  });

  it("has its structured content as JSON where it has no text", async () => {
    expect(await replyTo({ content: [], structuredContent: { a: 1 } })).toMatchObject({ content: '{"a":1}' });
  });

  it("has a file whose base64 is broken into lines", async () => {
    const data = "iVBO\r\nRw0K\n";
    expect(await replyTo({ content: [{ type: "image", data, mimeType: "image/png" }] })).toMatchObject({
      files: [{ mediaType: "image/png", url: "data:image/png;base64,iVBORw0K" }],
    });
  });

  it("has embedded text as text, and audio and embedded bytes as files", async () => {
    const outcome = await replyTo({
      content: [
        { type: "resource", resource: { uri: "a://1", text: "The text." } },
        { type: "resource", resource: { uri: "a://2", blob: "AAAA", mimeType: "application/pdf" } },
        { type: "audio", data: "BBBB", mimeType: "audio/wav" },
        { type: "resource_link", uri: "a://3", name: "three" },
      ],
    });
    expect(outcome).toEqual({
      isSuccess: true,
      content: "The text.\nthree: a://3",
      files: [
        { mediaType: "application/pdf", url: "data:application/pdf;base64,AAAA", name: "a://2" },
        { mediaType: "audio/wav", url: "data:audio/wav;base64,BBBB" },
      ],
    });
  });

  it("that is an error is one for the model, also without a text", async () => {
    expect(await replyTo({ isError: true, content: [text("No such file.")] })).toEqual({
      isSuccess: false,
      error: "No such file.",
      code: "tool-error",
    });
    expect(await replyTo({ isError: true, content: [] })).toMatchObject({ error: "The tool act failed." });
  });

  it("that is not one fails the call", async () => {
    for (const wrong of [null, "text", { content: [1] }, { content: [{ type: "image" }] }])
      expect(await replyTo(wrong as never)).toMatchObject({ isSuccess: false, code: "invalid-result" });
  });
});

describe("an error of the protocol", () => {
  const errorOf = async (code: number, message: string) => {
    const client: McpClient = {
      listTools: () => Promise.resolve({ tools: [{ name: "act", inputSchema: { type: "object" } }] }),
      callTool: () => Promise.reject(Object.assign(new Error(message), { code })),
    };
    return await runTool(await mcpTools(client, { name: "own" }), "own_act");
  };

  it.each([
    [-32_602, "Invalid tools/call result"],
    [-32_602, "The account act was not found."],
    [-32_603, "Internal error"],
    [-32_000, "Reset after the job was queued"],
    [500, "Of the server"],
  ])("%i %s says that the call may have had its effect", async (code, message) => {
    expect(await errorOf(code, message)).toMatchObject({
      code: "refused",
      error: expect.stringMatching(
        /^The MCP server answered the call of act with an error: .* The call may have had its effect\.$/,
      ),
    });
  });

  it.each([
    [-32_700, "Parse error"],
    [-32_600, "Invalid Request"],
    [-32_601, "Method not found"],
    [-32_602, "Tool act not found"],
    [-32_602, "Unknown tool: act"],
  ])("%i %s is a refusal: the tool has not run", async (code, message) => {
    expect(await errorOf(code, message)).toEqual({
      isSuccess: false,
      code: "refused",
      error: `The MCP server refused the call of act: ${message}.`,
    });
  });
});

describe("annotations", () => {
  it.each<[string, Hints]>([
    ["nothing", {}],
    ["that it only reads", { readOnlyHint: true }],
    ["that it may be repeated", { idempotentHint: true }],
    ["that it destroys nothing", { destructiveHint: false }],
    ["all of it", { readOnlyHint: true, idempotentHint: true, destructiveHint: false }],
  ])("of a stranger that say %s make nothing less careful", async (_, hints) => {
    expect(await policies(hints)).toEqual({ risk: "high", replay: "once" });
  });

  it.each<[string, Hints]>([
    ["alone", { destructiveHint: true }],
    ["beside a claim to only read", { destructiveHint: true, readOnlyHint: true, idempotentHint: true }],
  ])("of a stranger that say that it destroys something raise the risk: %s", async (_, hints) => {
    expect(await policies(hints)).toEqual({ risk: "critical", replay: "once" });
  });

  it.each<[Hints, string, string]>([
    [{}, "high", "once"],
    [{ readOnlyHint: true }, "low", "safe"],
    [{ destructiveHint: false }, "medium", "once"],
    [{ destructiveHint: false, idempotentHint: true }, "medium", "safe"],
    [{ destructiveHint: true, idempotentHint: true }, "critical", "safe"],
  ])("of a trusted server are believed: %o", async (hints, risk, replay) => {
    expect(await policies(hints, { trust: true })).toEqual({ risk, replay });
  });

  it("are overruled by a rule", async () => {
    const rule: McpToolsOptions["rule"] = ({ annotations }) =>
      annotations?.destructiveHint === true
        ? { risk: "low", approval: "always", replay: "keyed", timeoutMs: 5 }
        : undefined;
    expect(await policies({ destructiveHint: true }, { rule, timeoutMs: 9 })).toEqual({
      risk: "low",
      approval: "always",
      replay: "keyed",
      timeoutMs: 5,
    });
    expect(await policies({}, { rule, timeoutMs: 9 })).toEqual({
      risk: "high",
      replay: "once",
      timeoutMs: 9,
    });
  });

  it.each<[object, string]>([
    [
      { aproval: "always" },
      'Unknown option "aproval" of the rule for the tool act. Did you mean "approval"?',
    ],
    [{ include: "no" }, 'include of the rule for the tool act must be true or false, got "no".'],
    [
      { risk: "lo" },
      'risk of the rule for the tool act must be "low", "medium", "high" or "critical", got "lo".',
    ],
    [{ timeoutMs: -1 }, "timeoutMs of the rule for the tool act must be a positive integer, got -1."],
  ])("are not overruled by a rule with a mistake: %o", async (rule, message) => {
    await expect(policies({}, { rule: () => rule as never })).rejects.toMatchObject({
      name: "BuildError",
      message,
    });
  });
});
